/** What a client of `gw serve` sees: a real process, real upstreams, real sockets. */
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../gateway/src/version.ts';
import { compileSpec, type Echo, type Gateway, jsonOf, startGateway } from './gateway.ts';
import { raw } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const PROBLEM = 'application/problem+json';
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function document(upstream: string) {
  const mock = (config: object) => ({ name: 'mock', config });
  const proxy = (config: object = {}) => ({ name: 'http-upstream', config: { url: upstream, ...config } });
  const responses = { 200: { description: 'OK' } };
  const keys = [
    { key: 'alpha-key', id: 'alpha', name: 'Alpha', scopes: ['read', 'write'] },
    { key: 'env://BETA_KEY', id: 'beta', name: 'Beta', scopes: [] },
    { key: 'gamma-key', id: 'gamma', name: 'Gamma', scopes: [] },
  ];
  const cors = {
    name: 'cors',
    config: { allowed_origins: ['https://shop.example'], allowed_methods: ['GET', 'POST'] },
  };
  const book = {
    type: 'object',
    required: ['title', 'price'],
    additionalProperties: false,
    properties: { title: { type: 'string', minLength: 1 }, price: { type: 'number', minimum: 0 } },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Book Store', version: '1' },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    paths: {
      '/hello/{name}': {
        get: {
          responses,
          parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string', maxLength: 5 } }],
          'x-gw-dispatch': mock({ body: '{"hello":"{{path_params.name}}"}' }),
        },
      },
      '/search': {
        get: {
          responses,
          parameters: [
            { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } },
            { name: 'tag', in: 'query', schema: { type: 'array', items: { type: 'string', enum: ['new', 'old'] } } },
            { name: 'X-Region', in: 'header', schema: { type: 'string', enum: ['eu', 'us'] } },
            { name: 'session', in: 'cookie', schema: { type: 'string', minLength: 3 } },
          ],
          'x-gw-dispatch': mock({ body: 'ok', content_type: 'text/plain' }),
        },
      },
      '/books': {
        post: {
          responses,
          requestBody: { required: true, content: { 'application/json': { schema: book } } },
          'x-gw-middlewares': [cors],
          'x-gw-dispatch': proxy(),
        },
      },
      '/echo': { get: { responses, 'x-gw-dispatch': proxy() }, put: { responses, 'x-gw-dispatch': proxy() } },
      '/files/{path+}': {
        get: {
          responses,
          parameters: [{ name: 'path', in: 'path', required: true, allowReserved: true, schema: { type: 'string' } }],
          'x-gw-dispatch': proxy({ path: '/store/{path}' }),
        },
      },
      '/files/private/{name}': {
        get: {
          responses,
          parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
          security: [{ key: [] }],
          'x-gw-middlewares': [{ name: 'apikey-auth', config: { keys } }],
          'x-gw-dispatch': proxy({ path: '/store/private/{name}' }),
        },
      },
      '/secret': {
        get: {
          responses,
          security: [{ key: [] }],
          'x-gw-middlewares': [
            cors,
            { name: 'apikey-auth', config: { keys } },
            { name: 'rate-limit', config: { quota: 3, window: 60, partition_key: 'header:x-api-key' } },
          ],
          'x-gw-dispatch': proxy(),
        },
      },
      '/old': {
        get: { responses, deprecated: true, 'x-sunset': '2030-01-01', 'x-gw-dispatch': mock({}) },
      },
      '/slow': { get: { responses, 'x-gw-dispatch': proxy({ timeout: 0.2 }) } },
      '/empty': { get: { responses, 'x-gw-dispatch': proxy({}) } },
      '/dead': {
        get: { responses, 'x-gw-dispatch': { name: 'http-upstream', config: { url: 'http://127.0.0.1:1' } } },
      },
    },
  };
}

const PLUGINS = ['mock', 'http-upstream', 'apikey-auth', 'rate-limit', 'cors'];

describe('gw serve', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startUpstream((request, response, body) => {
      if (request.url === '/slow') return; // never answers
      if (request.url === '/empty') {
        // As no server of node:http writes it.
        request.socket.end('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nX-From: upstream\r\n\r\nnever');
        return;
      }
      response.setHeader('content-type', 'application/json');
      response.setHeader('server', 'nothing-of-yours');
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
    });
    gw = await startGateway(await compileSpec(document(upstream.url), PLUGINS), { env: { BETA_KEY: 'beta-key' } });
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await upstream?.close();
  });

  const get = (path: string, init: RequestInit = {}) => fetch(gw.url + path, init);

  it('answers health on both ports', async () => {
    const health = await jsonOf(await get('/__gw/health'));
    expect(health).toEqual({ status: 'healthy', artifact_version: 6, compiler_version: VERSION, routes_count: 12 });
    const admin = await jsonOf(await fetch(`${gw.admin}/health`));
    expect(admin).toEqual({ ...health, uptime_secs: expect.any(Number) });
    expect((await fetch(`${gw.admin}/ready`)).status).toBe(200);
  });

  it('puts the standard headers on every response, and propagates request and trace id', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    for (const path of ['/hello/ann', '/echo', '/nowhere', '/__gw/nothing']) {
      const response = await get(path, {
        headers: { 'x-request-id': 'my-id', traceparent: `00-${trace}-b7ad6b7169203331-01` },
      });
      expect(Object.fromEntries(response.headers), path).toMatchObject({
        server: `gw/${VERSION}`,
        'x-request-id': 'my-id',
        'x-trace-id': trace,
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
    }
    const made = await get('/hello/ann', { headers: { 'x-request-id': 'a b' } });
    expect(made.headers.get('x-request-id')).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(made.headers.get('x-trace-id')).toMatch(/^[0-9a-f]{32}$/);
  });

  it('serves a mock, and the HEAD of a GET', async () => {
    const response = await get('/hello/ann');
    expect([response.status, await response.json()]).toEqual([200, { hello: 'ann' }]);
    const head = await get('/hello/ann', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '15', '']);
  });

  it('answers 404, and 405 with Allow', async () => {
    const missing = await get('/nowhere');
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, PROBLEM]);
    expect(await missing.json()).toMatchObject({
      type: 'urn:gw:error:route-not-found',
      status: 404,
      title: 'Not found',
    });
    const wrong = await get('/echo', { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT']);
  });

  it.each([
    ['/hello/too-long', {}, 'path'],
    ['/search?limit=0', {}, 'query'],
    ['/search?limit=ten', {}, 'query'],
    ['/search?tag=new&tag=odd', {}, 'query'],
    ['/search', { 'x-region': 'mars' }, 'header'],
    ['/search', { cookie: 'session=ab' }, 'cookie'],
  ])('refuses %s %j by its %s parameter', async (path, headers, part) => {
    const response = await get(path, { headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([400, PROBLEM]);
    const problem = await jsonOf(response);
    expect(problem).toMatchObject({
      type: 'urn:gw:error:validation-failed',
      title: 'Request validation failed',
      detail: `The request does not match the API description (${part}).`,
    });
    expect(problem).not.toHaveProperty('errors');
  });

  it('passes what is valid', async () => {
    const headers = { 'x-region': 'eu', cookie: 'session=abc' };
    expect((await get('/search?limit=10&tag=new&tag=old', { headers })).status).toBe(200);
  });

  it('validates bodies before the upstream sees them', async () => {
    const post = (body: string, type = 'application/json') =>
      get('/books', { method: 'POST', body, headers: { 'content-type': type } });
    const before = upstream.seen.length;
    expect((await post('{"title":"","price":1}')).status).toBe(400);
    expect((await post('{"title":"x","price":1,"more":2}')).status).toBe(400);
    expect((await post('{"title":')).status).toBe(400);
    expect((await post('[')).status).toBe(400);
    expect((await post('title=x', 'application/x-www-form-urlencoded')).status).toBe(415);
    expect((await get('/books', { method: 'POST' })).status).toBe(400);
    expect(upstream.seen.length).toBe(before);
    const good = await post('{"title":"Dune","price":9.5}', 'application/json; charset=utf-8');
    expect([good.status, (await jsonOf<Echo>(good)).body]).toEqual([200, '{"title":"Dune","price":9.5}']);
  });

  it('proxies: method, query, bodies, headers of both sides, repeated headers', async () => {
    const response = await get('/echo?a=1&b=%20', {
      method: 'PUT',
      body: 'text',
      headers: { 'user-agent': 'me', 'x-other': '1', traceparent: TRACEPARENT },
    });
    const seen = await jsonOf<Echo>(response);
    expect(seen).toMatchObject({ method: 'PUT', url: '/echo?a=1&b=%20', body: 'text' });
    expect(seen.headers).toMatchObject({
      host: new URL(upstream.url).host,
      'user-agent': 'me',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(gw.url).host,
      'x-request-id': response.headers.get('x-request-id'),
      traceparent: TRACEPARENT,
    });
    expect(seen.headers).not.toHaveProperty('x-other');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('server')).toBe(`gw/${VERSION}`);
  });

  it('gives a greedy parameter to the upstream path', async () => {
    const seen = await jsonOf<Echo>(await get('/files/a/b%20c/d.txt?x=1'));
    expect(seen.url).toBe('/store/a/b%20c/d.txt?x=1');
  });

  it('gives an upstream path parameters as they were sent', async () => {
    const seen = await jsonOf<Echo>(await get('/files/a%2Fb/c%20d;v=1//100%25?x=1'));
    expect(seen.url).toBe('/store/a%2Fb/c%20d;v=1//100%25?x=1');
  });

  it('refuses a path that is that of another operation where it is decoded or normalised', async () => {
    for (const path of ['/files/private%2Fx', '/files/private%252Fx', '/files//private/x', '/files/private;v=1/x']) {
      const answer = await get(path);
      expect([answer.status, await answer.json()], path).toMatchObject([
        400,
        { type: 'urn:gw:error:validation-failed', detail: expect.stringContaining('another operation') },
      ]);
    }
    expect((await get('/files/private/x')).status).toBe(401);
  });

  it.each([
    ...['/files/../secret', '/files/%2e%2e/secret', '/files/a/./b', '/./echo'],
    // Some servers drop parameters before they resolve dots.
    ...['/files/..;/secret', '/files/..;a=b/secret', '/files/%2e.;/secret', '/files/.;/secret'],
    ...['/files/..%2fsecret', '/files/a%2F%2e.', '/files/a%5c..%5csecret'],
  ])('refuses the climbing path %s', async (path) => {
    expect(await rawStatus(gw, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).toBe(400);
  });

  it('has no header of its own taken out by what a client names in Connection', async () => {
    const names = 'x-auth-consumer, x-auth-key-id, x-real-ip, X-Forwarded-For, x-request-id, accept, close';
    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.write(
      `GET /secret HTTP/1.1\r\nHost: x\r\nX-API-Key: gamma-key\r\nAccept: a/b\r\nConnection: ${names}\r\n\r\n`,
    );
    const answer = await all;
    for (const name of ['x-auth-consumer', 'x-auth-key-id', 'x-real-ip', 'x-forwarded-for', 'x-request-id']) {
      expect(answer).toContain(`"${name}":`);
    }
    expect(answer).not.toContain('a/b');
    expect(
      await rawStatus(
        gw,
        'GET /secret HTTP/1.1\r\nHost: x\r\nX-API-Key: gamma-key\r\nConnection: x-api-key, close\r\n\r\n',
      ),
    ).toBe(401);
  });

  it('knows callers by key, never by headers of their own, and limits them', async () => {
    const call = (key: string | null, more: Record<string, string> = {}) =>
      get('/secret', { headers: { ...(key === null ? {} : { 'x-api-key': key }), ...more } });
    const none = await call(null, { 'x-auth-consumer': 'root', origin: 'https://shop.example' });
    expect([none.status, none.headers.get('content-type')]).toEqual([401, PROBLEM]);
    expect(none.headers.get('www-authenticate')).toBeTruthy();
    expect(none.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect((await call('wrong')).status).toBe(401);
    expect((await call('alpha-key', { origin: 'https://evil.example' })).status).toBe(403);

    const known = await call('beta-key', { 'x-auth-consumer-groups': 'root' });
    const seen = (await jsonOf<Echo>(known)).headers;
    expect(seen['x-auth-consumer']).toBe('beta');
    expect(seen['x-auth-consumer-groups'] ?? '').toBe('');

    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await call('alpha-key')).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const limited = await call('alpha-key');
    expect(await limited.json()).toMatchObject({ type: 'urn:gw:error:rate-limited', status: 429 });
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(known.headers.get('x-ratelimit-limit')).toBe('3');
    expect(known.headers.get('x-ratelimit-remaining')).toBe('2');
  });

  it('answers preflights by the operation that they ask for', async () => {
    const preflight = (path: string, method: string, origin = 'https://shop.example') =>
      get(path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': method } });
    const allowed = await preflight('/secret', 'GET');
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(allowed.headers.get('access-control-allow-methods')).toContain('GET');
    expect((await preflight('/secret', 'GET', 'https://evil.example')).status).toBe(403);
    expect((await preflight('/echo', 'GET')).status).toBe(405);
    expect((await preflight('/nowhere', 'GET')).status).toBe(404);
  });

  it('says when an operation is deprecated', async () => {
    const response = await get('/old');
    expect(response.headers.get('deprecation')).toBe('true');
    expect(response.headers.get('sunset')).toBe('Tue, 01 Jan 2030 00:00:00 GMT');
  });

  it('answers 504 for an upstream that is silent, 502 for one that is not there, 503 once the breaker is open', async () => {
    const slow = await get('/slow');
    expect([slow.status, (await jsonOf(slow))['type']]).toEqual([504, 'urn:gw:error:upstream-timeout']);
    const statuses = [];
    for (let i = 0; i < 7; i++) statuses.push((await get('/dead')).status);
    expect(statuses).toEqual([502, 502, 502, 502, 502, 503, 503]);
    const open = await get('/dead');
    expect(Number(open.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('takes the length off a 204, which has no body', async () => {
    const { status, headers } = await get('/empty');
    expect([status, headers.get('x-from'), headers.get('content-length')]).toEqual([204, 'upstream', null]);
  });

  it('holds the limits, each with our problem document', async () => {
    const size = 1_048_577;
    const declared = await rawRequest(gw, `PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`);
    expect(declared).toContain('HTTP/1.1 400');
    expect(declared).toContain(`has ${size} bytes or more; the limit is 1048576 bytes`);
    const chunked = await get('/echo', { method: 'PUT', body: streamOf(size), duplex: 'half' } as RequestInit);
    expect([chunked.status, (await jsonOf(chunked))['type']]).toEqual([400, 'urn:gw:error:validation-failed']);
    const headers = Array.from({ length: 101 }, (_, i) => `x-h${i}: 1\r\n`).join('');
    expect(await rawStatus(gw, `GET /echo HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)).toBe(400);
    expect(await rawStatus(gw, `GET /echo HTTP/1.1\r\nHost: x\r\nx-long: ${'a'.repeat(8193)}\r\n\r\n`)).toBe(431);
    expect(await rawStatus(gw, `GET /echo?${'a'.repeat(8200)} HTTP/1.1\r\nHost: x\r\n\r\n`)).toBe(400);
    expect(await rawStatus(gw, `GET /echo HTTP/1.1\r\nHost: x\r\nx-huge: ${'a'.repeat(3 << 20)}\r\n\r\n`)).toBe(431);
  });

  it.each([
    ['no host', 'GET /echo HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    [
      'both framings',
      'PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a second coding', 'PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a fragment', 'GET /echo#x HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('refuses %s with 400', async (_name, text) => {
    const before = upstream.seen.length;
    expect(await rawStatus(gw, text)).toBe(400);
    expect(upstream.seen.length).toBe(before);
  });

  it('sends 100 Continue only when the body is wanted', async () => {
    const head =
      'PUT /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n';
    expect(await rawRequest(gw, head, 'text')).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/);
    const refused = head.replace('PUT /echo', 'PUT /nowhere');
    expect(await rawRequest(gw, refused)).toMatch(/^HTTP\/1\.1 404/);
  });

  it('streams: the first chunk arrives before the upstream has finished', async () => {
    let finish = () => {};
    const streaming = await startUpstream((_request, response) => {
      response.write('first');
      finish = () => response.end('last');
    });
    const other = await startGateway(await compileSpec(document(streaming.url), PLUGINS), { env: { BETA_KEY: 'b' } });
    const response = await fetch(`${other.url}/echo`);
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
    finish();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('last');
    await other.stop();
    await streaming.close();
  });
});

function streamOf(size: number): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (let sent = 0; sent < size; sent += 65_536) controller.enqueue(Buffer.alloc(Math.min(65_536, size - sent)));
      controller.close();
    },
  });
}

/** Everything that comes back until the other side closes, or a whole response has come. */
function rawRequest(gw: Gateway, text: string, afterContinue = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(gw.url);
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
      if (afterContinue !== '' && received === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(afterContinue);
      const length = /content-length: (\d+)/i.exec(received);
      const end = received.indexOf('\r\n\r\n', received.indexOf('HTTP/1.1 100') === 0 ? 25 : 0);
      if (length && end > 0 && received.length >= end + 4 + Number(length[1])) socket.destroy();
    });
    socket.on('close', () => resolve(received));
    socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)));
  });
}

async function rawStatus(gw: Gateway, text: string): Promise<number> {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(await rawRequest(gw, text))?.[1]);
}

// docs/reference/gateway.md#drain
describe('drain', () => {
  it('on SIGTERM goes on accepting for the delay, with Connection: close, then exits with 0', async () => {
    const gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      args: ['--drain-delay', '5'],
      env: { BETA_KEY: 'b' },
    });
    gw.signal('SIGTERM');
    await gw.logged(({ msg }) => msg === 'draining');
    expect((await fetch(`${gw.admin}/ready`)).status).toBe(503);
    const connection = await new Promise((resolve, reject) =>
      httpRequest(`${gw.url}/hello/ann`, (response) => {
        response.resume();
        resolve(response.headers.connection);
      })
        .on('error', reject)
        .end(),
    );
    expect(connection).toBe('close');
    expect(await gw.exited).toBe(0);
    // It came long before the end.
    expect(gw.log.filter(({ msg }) => msg.startsWith('connections came'))).toEqual([]);
  });

  it('on SIGTERM goes on accepting while connections come, up to four times the delay', async () => {
    const gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      args: ['--drain-delay', '1'],
      env: { BETA_KEY: 'b' },
    });
    gw.signal('SIGTERM');
    await gw.logged(({ msg }) => msg === 'draining');
    let ended = false;
    const end = gw
      .logged(({ msg }) => msg === 'connections came after the drain delay')
      .finally(() => {
        ended = true;
      });
    const statuses = new Set<number>();
    // The last one may come when nothing is accepted any more.
    const ask = () => fetch(`${gw.url}/hello/ann`).then(({ status }) => statuses.add(status));
    while (!ended) await ask().catch(() => pause(10));
    const { extra_ms: extra, routed } = await end;
    expect(statuses).toEqual(new Set([200]));
    expect(routed).toBe(true);
    expect(extra).toBeGreaterThanOrEqual(3000);
    expect(await gw.exited).toBe(0);
  });

  it('serves those who connected while its process stood still beyond the delay', async () => {
    const gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      args: ['--drain-delay', '1'],
      env: { BETA_KEY: 'b' },
    });
    gw.signal('SIGTERM');
    await gw.logged(({ msg }) => msg === 'draining');
    gw.signal('SIGSTOP');
    const answers = Promise.all(
      Array.from({ length: 20 }, () => rawStatus(gw, 'GET /hello/ann HTTP/1.1\r\nhost: a\r\n\r\n')),
    );
    await pause(1500);
    gw.signal('SIGCONT');
    expect(new Set(await answers)).toEqual(new Set([200]));
    expect(await gw.exited).toBe(0);
  });

  it('on SIGUSR1 closes connections with their next answers, and is ready and serves on', async () => {
    const gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      env: { BETA_KEY: 'b' },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = () =>
      new Promise<readonly unknown[]>((resolve, reject) =>
        httpRequest(`${gw.url}/hello/ann`, { agent }, (response) => {
          response.resume();
          response.on('end', () => resolve([response.statusCode, response.headers.connection]));
        })
          .on('error', reject)
          .end(),
      );
    expect(await ask()).toEqual([200, 'keep-alive']);
    gw.signal('SIGUSR1');
    await gw.logged(({ msg }) => msg.startsWith('closing each connection'));
    for (let i = 0; i < 3; i++) expect(await ask()).toEqual([200, 'close']);
    expect((await fetch(`${gw.admin}/ready`)).status).toBe(200);
    expect(await gw.stop()).toBe(0);
    agent.destroy();
  });

  it('lets a request in flight finish', async () => {
    let finish = () => {};
    let arrived = () => {};
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const upstream = await startUpstream((_request, response) => {
      finish = () => response.end('done');
      arrived();
    });
    const gw = await startGateway(await compileSpec(document(upstream.url), PLUGINS), { env: { BETA_KEY: 'b' } });
    const response = fetch(`${gw.url}/echo`);
    await waiting;
    gw.signal('SIGTERM');
    await gw.logged(({ msg }) => msg === 'draining');
    await expect.poll(async () => (await fetch(`${gw.admin}/ready?draining=ok`)).status).toBe(503);
    finish();
    expect(await (await response).text()).toBe('done');
    expect(await gw.exited).toBe(0);
    await upstream.close();
  });

  it('cuts what is still there after the time-out, and exits with 0', async () => {
    let arrived = () => {};
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const upstream = await startUpstream(() => arrived());
    const gw = await startGateway(await compileSpec(document(upstream.url), PLUGINS), {
      args: ['--shutdown-timeout', '0.3'],
      env: { BETA_KEY: 'b' },
    });
    const response = fetch(`${gw.url}/echo`).catch(() => 'cut');
    await waiting;
    expect(await gw.stop()).toBe(0);
    expect(await response).toBe('cut');
    await upstream.close();
  });
});

describe('dev mode', () => {
  it('says where and why in the errors of a problem document', async () => {
    const artifact = await compileSpec(document('http://127.0.0.1:1'), PLUGINS);
    const gw = await startGateway(artifact, { args: ['--dev'], env: { BETA_KEY: 'b' } });
    const body = JSON.stringify({ title: '', price: -1, more: true });
    const response = await fetch(`${gw.url}/books`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    const { errors } = await jsonOf(response);
    expect(errors).toEqual(
      expect.arrayContaining([
        { in: 'body', field: '/title', reason: expect.stringContaining('fewer than 1') },
        { in: 'body', field: '/price', reason: 'must be >= 0' },
        { in: 'body', field: '/', reason: 'must NOT have additional properties: "more"' },
      ]),
    );
    const parameters = await jsonOf(await fetch(`${gw.url}/search?limit=0&tag=odd`));
    expect(parameters['errors']).toEqual([
      { in: 'query', field: 'limit', reason: 'must be >= 1' },
      { in: 'query', field: 'tag/0', reason: 'must be equal to one of the allowed values: ["new","old"]' },
    ]);
    await gw.stop();
  });
});
