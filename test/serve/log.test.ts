/** What `gw serve` logs: levels, how they are changed while it runs, the access log, and what is in no line. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, jsonOf, startGateway } from './gateway.ts';
import { raw as bare } from './http.ts';
import { type Scrape, scrape } from './scrape.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const PLUGINS = ['mock', 'http-upstream', 'apikey-auth'];
const PROBLEM = 'application/problem+json';

function document(upstream: string) {
  const responses = { 200: { description: 'OK' } };
  const keys = [{ key: 'planted-key', id: 'alpha', name: 'Alpha' }];
  const auth = (config: object) => [{ name: 'apikey-auth', config: { keys, ...config } }];
  const dispatch = { name: 'http-upstream', config: { url: upstream } };
  return {
    openapi: '3.1.0',
    info: { title: 'Logged', version: '1' },
    components: {
      securitySchemes: {
        header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        query: { type: 'apiKey', in: 'query', name: 'api_key' },
      },
    },
    paths: {
      '/open/{id}': {
        get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } } },
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      },
      '/header': {
        get: { responses, security: [{ header: [] }], 'x-gw-middlewares': auth({}), 'x-gw-dispatch': dispatch },
      },
      '/query': {
        get: {
          responses,
          security: [{ query: [] }],
          'x-gw-middlewares': auth({ key_location: 'query', query_param: 'api_key' }),
          'x-gw-dispatch': dispatch,
        },
      },
      '/orders': {
        post: {
          responses,
          parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } }],
          requestBody: {
            content: {
              'application/json': {
                schema: { type: 'object', properties: { card: { type: 'string', pattern: '^[0-9]{16}$' } } },
              },
            },
          },
          'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } },
        },
      },
      '/dead': {
        get: { responses, 'x-gw-dispatch': { name: 'http-upstream', config: { url: 'http://127.0.0.1:1' } } },
      },
    },
  };
}

/** In one piece: the second waits for the first, and is broken before its turn. */
const SECOND_BROKEN =
  'GET /open/first HTTP/1.1\r\nHost: x\r\n\r\n' +
  'POST /open/second HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n';

const isRequest = (path: string) => (line: { msg: string; path?: unknown }) =>
  line.msg === 'request' && line.path === path;

describe('the log level', () => {
  let artifact: Uint8Array;
  const running: Gateway[] = [];
  beforeAll(async () => {
    artifact = await compileSpec(document('http://127.0.0.1:1'), PLUGINS);
  });
  afterAll(async () => {
    for (const gw of running) await gw.stop();
  });
  const start = async (...options: Parameters<typeof startGateway> extends [unknown, ...infer R] ? R : never) => {
    const gw = await startGateway(artifact, ...options);
    running.push(gw);
    return gw;
  };
  const put = (gw: Gateway, body: string) =>
    fetch(`${gw.admin}/log-level`, { method: 'PUT', body, headers: { 'content-type': 'application/json' } });
  const level = async (gw: Gateway) => jsonOf(await fetch(`${gw.admin}/log-level`));
  const request = async (gw: Gateway, id: string) => {
    const response = await fetch(`${gw.url}/open/${id}`, { headers: { 'x-not-admitted': '1' } });
    expect(response.status).toBe(200);
  };

  it('has no line for a probe that finds all well, unless it is debug', async () => {
    const seen = async (level: string) => {
      const gw = await start({ args: ['--log-level', level] });
      await fetch(`${gw.url}/__gw/health`);
      await fetch(`${gw.url}/open/1`);
      await gw.logged(isRequest('/open/1'));
      return gw.log.some(isRequest('/__gw/health'));
    };
    expect([await seen('info'), await seen('debug')]).toEqual([false, true]);
  });

  it('is read and changed on the admin port, and the access log follows', async () => {
    const gw = await start();
    expect(await level(gw)).toEqual({ level: 'info', configured: 'info' });
    await request(gw, 'first');
    await gw.logged(isRequest('/open/first'));
    const quiet = await put(gw, '{"level":"warn"}');
    expect([quiet.status, await quiet.json()]).toEqual([200, { level: 'warn', configured: 'info' }]);
    await request(gw, 'second');
    await put(gw, '{"level":"debug"}');
    await request(gw, 'third');
    await gw.logged(isRequest('/open/third'));
    await gw.logged(({ level, msg }) => level === 'debug' && msg === 'request headers dropped');
    expect(gw.log.some(isRequest('/open/second'))).toBe(false);
    const changes = gw.log.filter(({ msg }) => msg === 'log level changed');
    expect(changes).toMatchObject([
      { level: 'warn', from: 'info', to: 'warn' },
      { from: 'warn', to: 'debug' },
    ]);
  });

  it.each(['', '{', 'null', '"debug"', '{"level":"loud"}', '{"level":["debug"]}', `{"level":"${'x'.repeat(5000)}"}`])(
    'is not changed by %j: the answer says what to send',
    async (body) => {
      const [gw = await start()] = running;
      const before = await level(gw);
      const refused = await put(gw, body);
      expect([refused.status, refused.headers.get('content-type')]).toEqual([400, PROBLEM]);
      expect((await jsonOf(refused))['detail']).toBe(
        'Send {"level": "debug"}: one of trace, debug, info, warn, error.',
      );
      expect(await level(gw)).toEqual(before);
    },
  );

  it('has no other methods', async () => {
    const [gw = await start()] = running;
    const refused = await fetch(`${gw.admin}/log-level`, { method: 'POST', body: '{"level":"debug"}' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT']);
    expect((await fetch(`${gw.admin}/health`, { method: 'PUT' })).headers.get('allow')).toBe('GET, HEAD');
  });

  it('goes to debug by SIGUSR2, and back by another', async () => {
    const gw = await start();
    const changed = (to: string) => gw.logged((line) => line.msg === 'log level changed' && line['to'] === to);
    await put(gw, '{"level":"error"}');
    gw.signal('SIGUSR2');
    await changed('debug');
    await request(gw, 'loud');
    await gw.logged(isRequest('/open/loud'));
    gw.signal('SIGUSR2');
    await changed('info');
    expect(await level(gw)).toEqual({ level: 'info', configured: 'info' });
  });

  // docs/decisions.md#precedence
  it('is that of RUST_LOG where it is set', async () => {
    const gw = await start({ args: ['--log-level', 'error'], env: { RUST_LOG: 'debug', GW_LOG_LEVEL: 'warn' } });
    expect(await level(gw)).toEqual({ level: 'debug', configured: 'debug' });
    const flag = await start({ args: ['--log-level', 'trace'], env: { GW_LOG_LEVEL: 'warn' } });
    expect(await level(flag)).toMatchObject({ level: 'trace' });
  });

  it('is that of all workers', async () => {
    const gw = await start({ args: ['--workers', '2'] });
    // Enough connections for both of them.
    const requests = async (name: string) => {
      for (let i = 0; i < 8; i++) await fetch(`${gw.url}/open/${name}${i}`, { headers: { connection: 'close' } });
    };
    await put(gw, '{"level":"error"}');
    await requests('quiet');
    await put(gw, '{"level":"info"}');
    await requests('loud');
    for (let i = 0; i < 8; i++) await gw.logged(isRequest(`/open/loud${i}`));
    expect(JSON.stringify(gw.log)).not.toContain('quiet');
  });
});

describe('log lines', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    gw = await startGateway(await compileSpec(document(upstream.url), PLUGINS), {
      args: ['--log-level', 'trace'],
    });
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  it('have one for each request, as JSON, with trace id and route', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const response = await fetch(`${gw.url}/open/a%22b?x=1`, {
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01`, 'x-request-id': 'mine' },
    });
    expect(await response.text()).toBe('ok');
    const line = await gw.logged(({ trace_id }) => trace_id === traceId);
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      msg: 'request',
      request_id: 'mine',
      trace_id: traceId,
      client_ip: '127.0.0.1',
      method: 'GET',
      path: '/open/a%22b',
      route: '/open/{id}',
      api: 'logged',
      status: 200,
      duration_ms: expect.any(Number),
      request_bytes: 0,
      response_bytes: 2,
      plugin: 'mock',
      decision: 'answered',
    });
  });

  it('say why a request was refused: where and what, never the value', async () => {
    const post = (id: string, query: string, body: string) =>
      fetch(`${gw.url}/orders${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-request-id': id },
        body,
      });
    const line = (id: string) => gw.logged(({ msg, request_id }) => msg === 'request' && request_id === id);
    expect((await post('in-query', '?limit=4711', '{}')).status).toBe(400);
    expect(await line('in-query')).toMatchObject({
      problem: 'validation-failed',
      errors: [{ in: 'query', field: 'limit', reason: 'must be <= 100' }],
    });
    expect((await post('in-body', '', '{"card":"4242x"}')).status).toBe(400);
    const body = await line('in-body');
    expect(body).toMatchObject({ problem: 'validation-failed', errors: [{ in: 'body', field: '/card' }] });
    expect(JSON.stringify(gw.log)).not.toMatch(/4711|4242x/);
    await fetch(`${gw.url}/header`, { headers: { 'x-request-id': 'no-key' } });
    const unauthorized = await line('no-key');
    expect([unauthorized['problem'], unauthorized['errors']]).toEqual(['unauthorized', undefined]);
  });

  it('name the request whose headers were dropped', async () => {
    await fetch(`${gw.url}/open/dropped`, { headers: { 'x-not-admitted': '1', 'x-request-id': 'dropped' } });
    const line = await gw.logged(
      ({ msg, request_id }) => msg === 'request headers dropped' && request_id === 'dropped',
    );
    expect(line['headers']).toContain('x-not-admitted');
  });

  it('hold no credentials at any level, and neither do answers', async () => {
    const headers = {
      authorization: 'Bearer planted-token',
      'proxy-authorization': 'Basic planted-proxy',
      cookie: 'session=planted-cookie',
      'x-api-key': 'planted-key',
    };
    const texts = [];
    for (const path of [
      '/header',
      '/query?api_key=planted-key',
      '/dead?api_key=planted-key',
      '/nowhere?a=planted-key',
    ]) {
      const response = await fetch(gw.url + path, { headers });
      const body = await response.text();
      // The upstream's echo has what it was sent.
      if (response.headers.get('x-from') !== 'upstream') texts.push(body);
      await gw.logged(isRequest(path.replace(/\?.*/, '')));
    }
    const wrong = await fetch(`${gw.url}/header`, { headers: { 'x-api-key': 'planted-wrong' } });
    expect(wrong.status).toBe(401);
    texts.push(await wrong.text());
    texts.push(
      await raw(gw, 'GET http://user:planted-userinfo@gw.example/open/absolute HTTP/1.1\r\nHost: gw.example\r\n'),
    );
    texts.push(await raw(gw, 'GET /open/x HTTP/1.1\r\nHost: user:planted-userinfo@gw.example\r\n'));
    expect(upstream.seen.map(({ url }) => url)).toEqual(['/header', '/query']);
    for (const text of [...texts, JSON.stringify(gw.log)]) {
      expect(text).not.toContain('planted');
    }
  });
});

describe('bytes that are no request', () => {
  let gw: Gateway;
  beforeAll(async () => {
    gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      args: ['--headers-timeout', '0.3'],
    });
  });
  afterAll(async () => {
    await gw?.stop();
  });

  // The parser's own limit lies above all of the gateway's together.
  const lines = Array.from({ length: 300 }, (_, i) => `X-${i}: ${'x'.repeat(8000)}\r\n`).join('');
  it.each([
    ['a bad request line', 400, 'GET  /a b HTTP/1.1\r\nHost: x\r\n\r\n', 'malformed'],
    ['a head that does not end', 408, 'GET /open/late HTTP/1.1\r\nHost: x\r\n', null],
    ['more headers than are read', 431, `GET /open/many HTTP/1.1\r\nHost: x\r\n${lines}\r\n`, 'header-size'],
    ['a URI longer than is read', 400, `GET /${'x'.repeat(2_000_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 'uri-length'],
    ['a header longer than is read', 431, `GET / HTTP/1.1\r\nX: ${'x'.repeat(2_000_000)}\r\n\r\n`, 'header-size'],
    ['CONNECT', 400, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nX-Request-Id: mine\r\n\r\n', 'malformed'],
    ['a second request with a broken body', 400, SECOND_BROKEN, 'malformed'],
  ])('%s: %i has identifiers, a line in the log, and is counted', async (_, status, bytes, reason) => {
    const before = await scrape(gw.admin);
    const { socket, all } = bare(Number(new URL(gw.url).port));
    socket.write(bytes);
    const text = await all;
    const refusal = text.slice(text.lastIndexOf('HTTP/1.1 '));
    expect(refusal).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const id = (name: string) => new RegExp(`^${name}: (\\S+)\r$`, 'im').exec(refusal)?.[1] ?? '';
    if (bytes.includes('X-Request-Id')) expect(id('x-request-id')).toBe('mine');
    expect(id('x-request-id')).not.toBe('');
    const line = await gw.logged(({ request_id, msg }) => msg === 'request' && request_id === id('x-request-id'));
    expect(line).toMatchObject({ status, trace_id: id('x-trace-id'), client_ip: '127.0.0.1', route: 'unmatched' });
    const after = await scrape(gw.admin);
    const counted = (each: Scrape, name: string, labels: object) =>
      each.samples
        .filter(
          (sample) =>
            sample.name === name &&
            Object.entries({ path: 'unmatched', ...labels }).every(([key, value]) => sample.labels[key] === value),
        )
        .reduce((sum, { value }) => sum + value, 0);
    const grown = (name: string, labels: object) => counted(after, name, labels) - counted(before, name, labels);
    expect(grown('gw_requests_total', { status: String(status) })).toBe(1);
    if (reason !== null) expect(grown('gw_validation_failures_total', { reason })).toBe(1);
    else expect(grown('gw_validation_failures_total', {})).toBe(0);
  });
});

/** The answer to a head that no client library would send. */
async function raw(gw: Gateway, head: string): Promise<string> {
  const { connect } = await import('node:net');
  const { hostname, port } = new URL(gw.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${head}Connection: close\r\n\r\n`));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}
