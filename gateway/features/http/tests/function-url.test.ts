/** function-url through a real `gw serve`, with functions that answer well, badly, late or not at all. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';

interface Invocation {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, i) => i));

/** What a function answers, by the path of its URL; all others say how they were invoked. */
const answers: Readonly<Record<string, unknown>> = {
  '/full': {
    statusCode: 201,
    headers: {
      'Content-Type': 'text/plain',
      'x-number': 7,
      'X-Flag': true,
      'content-length': '999',
      Connection: 'x-hop',
      'x-hop': 'h',
    },
    multiValueHeaders: { 'x-number': ['1', 2], 'x-list': ['a', 'b'] },
    cookies: ['a=1', 'b=2; Path=/'],
    body: 'größe',
    another: 'member',
  },
  '/binary': {
    statusCode: 200,
    headers: { 'content-type': 'application/octet-stream' },
    body: ALL_BYTES.toString('base64'),
    isBase64Encoded: true,
  },
  '/with-body': { statusCode: 304, body: 'none' },
  '/bare': { statusCode: 204, body: 'none' },
  '/reset': { statusCode: 205, body: 'none' },
  '/no-body': { statusCode: 200, headers: null, body: null },
  '/status-text': { statusCode: '200', body: '' },
  '/status-100': { statusCode: 100, body: '' },
  '/status-600': { statusCode: 600, body: '' },
  '/status-half': { statusCode: 200.5, body: '' },
  '/status-missing': { body: '' },
  '/array': [{ statusCode: 200 }],
  '/body-object': { statusCode: 200, body: { a: 1 } },
  '/body-number': { statusCode: 200, body: 1 },
  '/not-base64': { statusCode: 200, body: '***', isBase64Encoded: true },
  '/base64-text': { statusCode: 200, body: 'YQ==', isBase64Encoded: 'yes' },
  '/header-object': { statusCode: 200, headers: { 'x-a': { b: 1 }, 'set-cookie': 'planted=1' }, body: '' },
  '/header-null': { statusCode: 200, headers: { 'x-a': null }, body: '' },
  '/header-list': { statusCode: 200, headers: { 'x-a': ['b'] }, body: '' },
  '/headers-list': { statusCode: 200, headers: ['x-a'], body: '' },
  '/header-name': { statusCode: 200, headers: { 'set-cookie': 'planted=1', 'x a': 'b' }, body: '' },
  '/header-slash': { statusCode: 200, headers: { 'x/a': 'b' }, body: '' },
  '/header-empty': { statusCode: 200, headers: { '': 'b' }, body: '' },
  '/header-split': { statusCode: 200, headers: { 'x-a': 'b\r\nset-cookie: planted=1' }, body: '' },
  '/header-wide': { statusCode: 200, headers: { 'x-a': 'snow ☃' }, body: '' },
  '/header-huge': { statusCode: 200, headers: { 'x-a': 'x'.repeat(40_000) }, body: '' },
  '/headers-many': {
    statusCode: 200,
    headers: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x-${i}`, 'v'])),
    body: '',
  },
  '/multi-text': { statusCode: 200, multiValueHeaders: { 'x-a': 'b' }, body: '' },
  '/headers-thousands': {
    statusCode: 200,
    headers: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`x-${i}`, 'v'])),
  },
  '/name-huge': { statusCode: 200, headers: { ['x'.repeat(2_000_000)]: 'v' } },
  '/value-huge': { statusCode: 200, headers: { x: 'v'.repeat(2_000_000) } },
  '/cookies-text': { statusCode: 200, cookies: 'a=1', body: '' },
};
const invalid = Object.keys(answers).slice(6);
const texts: Readonly<Record<string, string>> = {
  '/nonsense': 'not JSON',
  '/empty': '',
  '/repeated': '{"statusCode":200,"statusCode":404,"body":""}',
  '/escaped': '{"statusCode":200,"body":"a","b\\u006fdy":"b"}',
  '/not-utf8': '{"statusCode":200,"body":"\xff"}',
};

let functions: Server;
let open: Set<object>;
let invocations = 0;
let gw: Gateway;

/** Characters, which the gateway reads. */
const COSTLY = 2_900_000;
const depth = COSTLY / 2;
function listOf(item: (n: number) => string): string {
  let list = item(0);
  for (let n = 1; list.length < COSTLY - 100; n++) list += `,${item(n)}`;
  return list;
}
/** JSON that takes hundreds of milliseconds to parse. */
const costly: Readonly<Record<string, string>> = {
  lists: `[${listOf(() => '[]')}]`,
  objects: `[${listOf(() => '{}')}]`,
  nesting: `${'['.repeat(depth)}${']'.repeat(depth)}`,
  names: `{${listOf((n) => `"k${n}":0`)}}`,
  numbers: `{${listOf((n) => `"${n * 7919}":0`)}}`,
  escapes: `[${listOf((n) => `{"\\u006b${n}":0}`)}]`,
};

function invoke(request: IncomingMessage, response: ServerResponse, body: string): void {
  const path = (request.url ?? '').split('?')[0] ?? '';
  if (path === '/silent') return;
  if (path === '/half')
    return void response.writeHead(200, { 'content-length': '100' }).write('{"sta', () => request.socket.destroy());
  if (path === '/trickle') return void response.writeHead(200).write('{"statusCode":');
  if (path === '/failing')
    return void response.writeHead(500).end(JSON.stringify({ statusCode: 200, body: 'planted' }));
  if (path === '/moved') return void response.writeHead(302, { location: '/full' }).end();
  if (path === '/costly')
    return void response.end(`{"statusCode":200,"body":"ok","planted":${costly[String(request.headers['x-wanted'])]}}`);
  if (path === '/big')
    return void response.end(JSON.stringify({ statusCode: 200, body: 'x'.repeat(Number(request.headers['x-size'])) }));
  const text = texts[path];
  if (text !== undefined) return void response.end(Buffer.from(text, 'latin1'));
  const answer = answers[path];
  const { method, url, headers } = request;
  response.end(JSON.stringify(answer ?? { statusCode: 200, body: JSON.stringify({ method, url, headers, body }) }));
}

const operation = (url: string, config: object = {}) => ({
  responses: { default: { description: 'any' } },
  parameters: ['x-size', 'x-wanted', 'accept-encoding', 'x-forwarded-for'].map((name) => ({
    name,
    in: 'header',
    schema: { type: 'string' },
  })),
  'x-gw-middlewares': [{ name: 'cors', config: { allowed_origins: ['https://shop.example'] } }],
  'x-gw-dispatch': { name: 'function-url', config: { url, ...config } },
});

beforeAll(async () => {
  open = new Set();
  functions = createServer((request, response) => {
    invocations++;
    open.add(response);
    response.on('close', () => open.delete(response));
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk) => chunks.push(chunk))
      .on('end', () => invoke(request, response, Buffer.concat(chunks).toString('latin1')));
  }).listen(0, '127.0.0.1');
  await once(functions, 'listening');
  const base = `http://127.0.0.1:${(functions.address() as AddressInfo).port}`;
  const both = (url: string, config: object = {}) => ({
    get: operation(url, config),
    head: operation(url, config),
    put: { ...operation(url, config), requestBody: { content: { 'application/octet-stream': {} } } },
  });
  const named = [...Object.keys(answers), ...Object.keys(texts), '/half', '/failing', '/moved', '/big', '/costly'];
  const paths = {
    ...Object.fromEntries(named.map((path) => [path, both(base + path)])),
    '/echo': both(`${base}/echo`),
    '/echo-query': both(`${base}/echo?stage=prod`),
    '/quiet': both(`${base}/echo`, { pass_through_headers: false }),
    '/users/{id}': {
      get: {
        ...operation(`${base}/u/{id}/x`),
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      },
    },
    '/silent': both(`${base}/silent`, { timeout: 0.3 }),
    '/trickle': both(`${base}/trickle`, { timeout: 0.3 }),
    '/patient': both(`${base}/silent`),
    '/hanging': both(`${base}/silent`, { timeout: 0.1 }),
    '/busy': both(`${base}/silent`),
    '/dead': both('http://127.0.0.1:1/'),
    '/private': both(base.replace('127.0.0.1', '127.0.0.2')),
  };
  const document = { openapi: '3.1.0', info: { title: 'Functions', version: '1' }, paths };
  gw = await startGateway(await compileSpec(document, ['function-url', 'cors']), {
    args: ['--max-upstream-response-bytes', '3000000', '--max-body-size', '3000000'],
  });
});
afterAll(async () => {
  await gw?.stop();
  functions?.close();
  functions?.closeAllConnections();
});

const call = (path: string, init: RequestInit = {}) => fetch(gw.url + path, init);
const invocation = async (path: string, init: RequestInit = {}) => jsonOf<Invocation>(await call(path, init));

describe('what a function is invoked with', () => {
  it('has method, headers, query and the bytes of the body', async () => {
    const got = await invocation('/echo?a=1&b=%20', {
      method: 'PUT',
      body: ALL_BYTES,
      headers: { 'x-wanted': 'yes', 'x-unknown': 'no', 'content-type': 'application/octet-stream' },
    });
    expect(got).toMatchObject({ method: 'PUT', url: '/echo?a=1&b=%20', body: ALL_BYTES.toString('latin1') });
    expect(got.headers).toMatchObject({
      'x-wanted': 'yes',
      'content-type': 'application/octet-stream',
      'content-length': '256',
    });
    expect(got.headers).not.toHaveProperty('x-unknown');
    expect((await invocation('/echo-query?a=1')).url).toBe('/echo?stage=prod&a=1');
    expect((await invocation('/echo-query')).url).toBe('/echo?stage=prod');
  });

  it('says where the request comes from, as an upstream hears it, and asks for an answer that can be read', async () => {
    const { headers } = await invocation('/echo', {
      headers: { 'accept-encoding': 'br', 'x-forwarded-for': '203.0.113.9' },
    });
    const host = new URL(gw.url).host;
    expect(headers).toMatchObject({
      'accept-encoding': 'identity',
      'x-forwarded-for': '203.0.113.9, 127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': host,
      'x-real-ip': '127.0.0.1',
    });
    expect(headers['host']).not.toBe(host);
    expect(headers['x-request-id']).toMatch(/./);
  });

  it('has no headers of the request where its config says so, but for those of the body', async () => {
    const { headers, body } = await invocation('/quiet', {
      method: 'PUT',
      body: 'text',
      headers: { 'x-wanted': 'yes', 'content-type': 'application/octet-stream' },
    });
    expect(Object.keys(headers).filter((name) => /^(x-wanted|x-forwarded|x-real|x-request)/.test(name))).toEqual([]);
    expect([headers['content-type'], body]).toEqual(['application/octet-stream', 'text']);
  });

  it('is a GET where the request is a HEAD, whose answer could say nothing', async () => {
    const response = await call('/full', { method: 'HEAD' });
    expect([response.status, response.headers.get('x-flag'), await response.text()]).toEqual([201, 'true', '']);
  });

  it('has path parameters where its URL has them', async () => {
    expect((await invocation('/users/a%2Fb?q=1')).url).toBe('/u/a%2Fb/x?q=1');
  });
});

describe('what a function answers', () => {
  it('has status, headers and body', async () => {
    const response = await call('/full', { headers: { origin: 'https://shop.example' } });
    expect([response.status, await response.text()]).toEqual([201, 'größe']);
    const { headers } = response;
    expect([headers.get('content-type'), headers.get('x-flag'), headers.get('x-list')]).toEqual([
      'text/plain',
      'true',
      'a, b',
    ]);
    expect([headers.get('x-number'), headers.getSetCookie()]).toEqual(['1, 2', ['a=1', 'b=2; Path=/']]);
    expect([headers.get('content-length'), headers.get('x-hop'), headers.get('another')]).toEqual(['7', null, null]);
    expect(headers.get('access-control-allow-origin')).toBe('https://shop.example');
  });

  it('has binary bodies, and none', async () => {
    expect(Buffer.from(await (await call('/binary')).arrayBuffer())).toEqual(ALL_BYTES);
    expect([(await call('/bare')).status, (await call('/no-body')).status]).toEqual([204, 200]);
    const [unchanged, reset] = [await call('/with-body'), await call('/reset')];
    expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
    expect([reset.status, reset.headers.get('content-length'), await reset.text()]).toEqual([205, '0', '']);
  });

  it('may be a megabyte, which passes through no plugin', async () => {
    const response = await call('/big', { headers: { 'x-size': '2000000' } });
    expect([response.status, (await response.text()).length]).toEqual([200, 2_000_000]);
  });

  it.each([...invalid, ...Object.keys(texts), '/half', '/failing', '/moved', '/dead', '/private'])(
    'is 502 where it is not valid, or there is none: %s',
    async (path) => {
      const response = await call(path);
      expect(response.status).toBe(502);
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(await jsonOf(response)).toMatchObject({ type: 'urn:gw:error:upstream-failed', title: 'Bad gateway' });
    },
  );

  it('is 502 where it is longer than the gateway reads', async () => {
    expect((await call('/big', { headers: { 'x-size': '3000000' } })).status).toBe(502);
  });

  it.each(Object.keys(costly))('is 502 that says why if it takes long to parse: %s', async (kind) => {
    const response = await call('/costly', { headers: { 'x-wanted': kind } });
    expect([response.status, await jsonOf(response)]).toMatchObject([
      502,
      { type: 'urn:gw:error:upstream-failed', detail: expect.stringContaining('takes too long to read') },
    ]);
  });

  it.each(['/silent', '/trickle'])('is 504 where it takes too long: %s', async (path) => {
    const response = await call(path);
    expect(response.status).toBe(504);
    expect(await jsonOf(response)).toMatchObject({ type: 'urn:gw:error:upstream-timeout', title: 'Gateway timeout' });
  });
});

describe('a function that hangs', () => {
  it('is not invoked after five times without an answer, until it may be tried again', async () => {
    for (let i = 0; i < 5; i++) expect((await call('/hanging')).status).toBe(504);
    const before = invocations;
    const response = await call('/hanging');
    expect([response.status, await jsonOf(response)]).toMatchObject([
      503,
      { type: 'urn:gw:error:upstream-unavailable' },
    ]);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(invocations).toBe(before);
    expect((await call('/full')).status).toBe(201);
  });

  it('delays no other function on its host, however many wait for it', async () => {
    await eventually(() => open.size === 0);
    const left = new AbortController();
    const waiting = Array.from({ length: 150 }, () => call('/busy', { signal: left.signal }).catch(() => null));
    await eventually(() => open.size === 150);
    expect((await call('/full')).status).toBe(201);
    left.abort();
    await Promise.all(waiting);
  });
});

describe('a client that leaves', () => {
  it('ends the invocation, and leaves no instance behind', async () => {
    await eventually(() => open.size === 0);
    const left = new AbortController();
    const calls = Array.from({ length: 8 }, () => call('/patient', { signal: left.signal }).catch(() => null));
    await eventually(() => open.size === 8);
    left.abort();
    await Promise.all(calls);
    await eventually(() => open.size === 0);
    expect((await call('/full')).status).toBe(201);
    await eventually(async () => (await scrape(gw.admin)).value('gw_plugin_instances_busy') === 0);
  });
});
