/** Responses that stream while a new artifact is loaded: what they need of the old one, and what they do not keep. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { fixture } from './fixture-plugin.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { Scrape } from './scrape.ts';
import { startUpstream, type Upstream } from './upstream.ts';

let dir = '';
let gw: Gateway;
let logs: Upstream;
/** Connections of the gateway to the upstream, and responses that it has begun. */
const sockets = new Set<Socket>();
let streams: ServerResponse[] = [];
const upstream = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  if (request.url !== '/stream') return response.end('whole');
  response.write('begun, ');
  streams.push(response);
}).on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gw-streams-'));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  logs = await startUpstream();
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const operation = (path: string, middlewares: readonly object[] = []) => ({
    get: {
      operationId: path.slice(1),
      responses: { 200: { description: 'any' } },
      'x-gw-middlewares': middlewares,
      'x-gw-dispatch': { name: 'http-upstream', config: { url, path: path === '/whole' ? path : '/stream' } },
    },
  });
  const fields = ['route', 'operation_id', 'status', 'response_bytes'];
  const log = { name: 'http-log', config: { url: logs.url, batch: { max_entries: 1 }, fields } };
  const cache = { name: 'cache', config: { default_ttl: 60 } };
  const upper = { name: 'stream-upper', config: { trailer: '!' } };
  const paths = {
    '/whole': operation('/whole'),
    '/plain': operation('/plain'),
    '/logged': operation('/logged', [log]),
    '/cached': operation('/cached', [cache]),
    '/hooked': operation('/hooked', [upper]),
  };
  const file = join(dir, 'api.gwa');
  const document = { openapi: '3.1.0', info: { title: 'Streams', version: '1' }, paths };
  const artifact = await compileSpec(document, ['http-upstream', 'http-log', 'cache'], [fixture('stream-upper')]);
  writeFileSync(file, artifact);
  gw = await startGateway(null, { args: ['--artifact', file] });
});
afterEach(async () => {
  await gw?.stop();
  await logs?.close();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
  streams = [];
  rmSync(dir, { recursive: true });
});

/** A response that has begun, and its text at its end. */
async function begun(path: string): Promise<{ response: IncomingMessage; text: Promise<string> }> {
  const [response] = (await once(get(gw.url + path, { agent: false }), 'response')) as [IncomingMessage];
  const text = (async () => {
    let all = '';
    for await (const chunk of response.setEncoding('utf8')) all += chunk;
    return all;
  })();
  return { response, text };
}

async function reload(): Promise<void> {
  const loaded = () => gw.log.filter(({ msg }) => msg === 'artifact loaded').length;
  const before = loaded();
  gw.signal('SIGHUP');
  await gw.logged(() => loaded() > before);
}

it.each(['/plain', '/logged', '/cached'])(
  'release the old artifact at their head, and end with all that they end with: %s',
  async (path) => {
    const stream = await begun(path);
    expect(await (await fetch(`${gw.url}/whole`)).text()).toBe('whole');
    expect(sockets.size).toBe(2);
    await reload();
    // A closed generation closes its idle connections.
    await eventually(() => expect(sockets.size).toBe(1));
    streams[0]?.end('ended');
    expect(await stream.text).toBe('begun, ended');
    const line = await gw.logged(({ msg, route }) => msg === 'request' && route === path);
    expect(line).toMatchObject({ status: 200, response_bytes: 12, api: expect.any(String) });
    await eventually(async () => {
      const metrics = new Scrape(await (await fetch(`${gw.admin}/metrics`)).text());
      expect(metrics.value('gw_requests_total', { path, method: 'GET', status: '200', api: 'streams' })).toBe(1);
    });
    if (path === '/logged') {
      const entry = { route: path, operation_id: 'logged', status: 200, response_bytes: 12 };
      await eventually(() => expect(logs.seen.map(({ body }) => JSON.parse(body))).toEqual([[entry]]));
    }
    if (path === '/cached') expect(await (await fetch(gw.url + path)).text()).toBe('begun, ended');
  },
);

it('keep it as long as plugins see their chunks', async () => {
  const stream = await begun('/hooked');
  expect(await (await fetch(`${gw.url}/whole`)).text()).toBe('whole');
  await reload();
  streams[0]?.end('ended');
  expect(await stream.text).toBe('BEGUN, ENDED!');
  await eventually(() => expect(sockets.size).toBe(0));
});
