/** Redirects of calls that the gateway makes itself. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BufferBudget } from '../memory/buffer-budget.ts';
import { EgressGuard } from './guard.ts';
import { HttpClient } from './http-client.ts';

const guard = new EgressGuard({ allowInternal: true, allow: [] });
const client = new HttpClient({
  guard,
  allowPlaintext: true,
  maxResponseBytes: 1 << 20,
  budget: new BufferBudget(1 << 20),
});
const servers: Server[] = [];
const seen: IncomingHttpHeaders[] = [];
let other = '';
let first = '';

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  other = await listening(createServer(({ headers }, response) => void response.end(String(seen.push(headers)))));
  first = await listening(
    createServer(({ url, headers }, response) => {
      if (url === '/here') return void response.end(String(seen.push(headers)));
      response.writeHead(307, { location: url === '/inside' ? '/here' : `${other}/` }).end();
    }),
  );
});
afterAll(async () => {
  await client.close();
  for (const server of servers) server.close();
});

it('a redirect takes credentials of any name along within its origin, and none to another', async () => {
  const secrets = [
    'authorization',
    'cookie',
    'x-api-key',
    'x-amz-security-token',
    'proxy-authorization',
    'x-goog-api-key',
  ];
  const headers = [...secrets.flatMap((name) => [name, 'secret']), 'accept', 'text/plain'];
  for (const path of ['/inside', '/outside']) {
    await client.call({ method: 'GET', url: first + path, headers, timeoutMs: 10_000, redirects: 1 });
  }
  const kept = seen.map((each) =>
    Object.keys(each)
      .filter((name) => each[name] === 'secret')
      .sort(),
  );
  expect(kept).toEqual([[...secrets].sort(), []]);
  expect(seen.map(({ accept }) => accept)).toEqual(['text/plain', 'text/plain']);
});
