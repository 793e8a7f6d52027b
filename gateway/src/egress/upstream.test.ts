import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RawRequest, RecordedAnswer } from '../../../test/upstream-rig.ts';
import { EgressGuard } from './guard.ts';
import { HttpUpstream } from './upstream.ts';
import { UpstreamCalls } from './upstream-calls.ts';

const servers: Server[] = [];
async function serve(name: string): Promise<string> {
  const server = createServer((request, response) => response.end(`${name} ${request.headers.host}`)).listen(
    0,
    '127.0.0.1',
  );
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let upstream: HttpUpstream;
let other: string;
beforeAll(async () => {
  const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
  upstream = new HttpUpstream(new URL(await serve('own')), {
    guard,
    connectTimeoutMs: 1000,
    calls: new UpstreamCalls(1000, () => {}),
  });
  other = await serve('other');
});
afterAll(async () => {
  upstream.close();
  for (const server of servers) server.close();
});

async function ask(request: RawRequest): Promise<string> {
  const answer = new RecordedAnswer();
  const headers = ['host', 'bucket.store.example'];
  upstream.dispatch({ method: 'GET', path: '/', headers, body: null, upgrade: null, ...request }, answer);
  return (await answer.whole).body;
}

describe('an upstream', () => {
  it('is connected to where no request says otherwise', async () => {
    expect(await ask({})).toBe('own bucket.store.example');
  });

  it('has other hosts, which the guard vets as it does its own', async () => {
    expect(await ask({ origin: other })).toBe('other bucket.store.example');
    await expect(ask({ origin: other.replace('127.0.0.1', '127.0.0.2') })).rejects.toThrow('egress');
  });
});
