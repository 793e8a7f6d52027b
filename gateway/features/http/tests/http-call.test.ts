/**
 * `host_http_call`: what a plugin can call, through the egress guard, and what becomes of it
 * (docs/reference/gateway.md#egress, docs/decisions.md#egress-allow).
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture } from '../../../../test/serve/fixture-plugin.ts';
import { compileSpec, type Echo, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { OTLP, traceOf, tree } from '../../../../test/serve/spans.ts';
import { traceparent } from '../../../../test/serve/traced-project.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const MAX = 100_000;

describe('HTTP calls of plugins', () => {
  let server: Upstream;
  let inner: Server;
  let innerSeen = 0;
  let gw: Gateway;
  beforeAll(async () => {
    inner = createServer((socket) => {
      innerSeen++;
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ninner');
    }).listen(0, '0.0.0.0');
    await once(inner, 'listening');
    const innerUrl = `http://127.0.0.2:${(inner.address() as AddressInfo).port}`;
    server = await startUpstream((request, response, body) => {
      const [, kind = '', status = ''] = request.url?.split('/') ?? [];
      if (kind === 'silent') return;
      if (kind === 'cut') return void response.write('half', () => request.socket.destroy());
      if (kind === 'trickle') return void response.write('x');
      if (kind === 'big') return void response.end('x'.repeat(Number(status)));
      if (kind === 'chunked') {
        for (let i = 0; i < 20; i++) response.write('x'.repeat(10_000));
        return void response.end();
      }
      if (kind === 'inside') return void response.writeHead(Number(status), { location: '/echo' }).end();
      if (kind === 'outside') return void response.writeHead(302, { location: `${innerUrl}/` }).end();
      if (kind === 'file') return void response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      if (kind === 'loop') return void response.writeHead(302, { location: '/loop' }).end('looping');
      if (kind === 'status') return void response.writeHead(Number(status)).end('said so');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
    });
    const at = (path: string, config: object = {}) => {
      const dispatch = { 'x-gw-dispatch': { name: 'caller', config: { url: server.url + path, ...config } } };
      const operation = { responses: {}, ...dispatch };
      return { get: operation, post: { ...operation, requestBody: { content: { 'text/plain': {} } } } };
    };
    const paths = {
      '/echo': at('/echo?q=1'),
      '/again': at('/status/200', { again: 1 }),
      '/again-long': at(`/big/${MAX}`, { again: 1 }),
      '/status': at('/status/418'),
      '/traced': at('/status/200/planted-in-path?token=planted'),
      '/silent': at('/silent', { timeout_ms: 300 }),
      '/trickle': at('/trickle', { timeout_ms: 300 }),
      '/cut': at('/cut'),
      '/largest': at(`/big/${MAX}`),
      '/too-large': at(`/big/${MAX + 1}`),
      '/chunked': at('/chunked'),
      '/own-limit': at('/big/11', { max_bytes: 10 }),
      '/redirect': at('/inside/302'),
      '/followed-302': at('/inside/302', { redirects: 3 }),
      '/followed-307': at('/inside/307', { redirects: 3 }),
      '/outside': at('/outside', { redirects: 3 }),
      '/to-a-file': at('/file', { redirects: 3 }),
      '/loop': at('/loop', { redirects: 3 }),
      '/inner': at('', { url: `${innerUrl}/planted-in-path` }),
      '/dead': at('', { url: 'http://127.0.0.1:1/planted-in-path' }),
      '/ftp': at('', { url: 'ftp://127.0.0.1/x' }),
      '/framed': at('/echo', { header: 'Transfer-Encoding: chunked' }),
      '/split': at('/echo', { header: 'x-a: 1\r\nx-b: 2' }),
      '/spaces': at('/echo', { header: 'x-a:', spaces: 30_000 }),
      '/unnamed': at('/echo', { header: 'x a: 1' }),
      '/nonsense': at('', { url: 'nonsense' }),
    };
    const document = { openapi: '3.1.0', info: { title: 'Calls', version: '1' }, paths };
    gw = await startGateway(await compileSpec(document, [], [fixture('caller')]), {
      args: ['--max-upstream-response-bytes', String(MAX)],
      env: OTLP === undefined ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: OTLP },
    });
  });
  afterAll(async () => {
    await gw?.stop();
    await server?.close();
    inner?.close();
  });
  const call = (path: string, init: RequestInit = {}) => fetch(gw.url + path, init);
  /** What the log says of the call of this request. */
  const told = async (response: Response) => {
    const id = response.headers.get('x-request-id');
    return (await gw.logged(({ plugin, request_id }) => plugin === 'caller' && request_id === id)).msg;
  };

  it('carry method, headers and body, and bring status, headers and body back', async () => {
    const response = await call('/echo', { method: 'POST', body: 'hello', headers: { 'content-type': 'text/plain' } });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    const echo = await jsonOf<Echo>(response);
    expect(echo).toMatchObject({ method: 'POST', url: '/echo?q=1', body: 'hello' });
    expect(echo.headers).toMatchObject({ authorization: 'Bearer of-the-gateway', 'content-type': 'text/plain' });
    const other = await call('/status');
    expect([other.status, await other.text()]).toEqual([418, 'said so']);
  });

  it.each([
    ['/again', 600],
    ['/again-long', 350],
  ])('count as CPU time of the plugin, so that a loop of them ends: %s', async (path, most) => {
    const before = server.seen.length;
    const response = await call(path);
    expect(response.status).toBe(500);
    expect(await told(response)).toContain('used its 25 ms of CPU time');
    expect(server.seen.length - before).toBeLessThan(most);
  });

  it('take the trace of the request on', async () => {
    const caller = traceparent('01');
    const response = await call('/echo', { headers: { traceparent: caller.header, tracestate: 'vendor=1' } });
    const { headers } = await jsonOf<Echo>(response);
    expect(headers['traceparent']).toContain(caller.traceId);
    expect(headers['tracestate']).toBe('vendor=1');
  });

  it.skipIf(OTLP === undefined)('are a client span of it (needs OTLP_ENDPOINT)', async () => {
    const caller = traceparent('01');
    const response = await call('/echo', { headers: { traceparent: caller.header } });
    const { headers } = await jsonOf<Echo>(response);
    const spans = await traceOf(caller.traceId);
    expect(tree(spans)).toEqual([['GET /echo', [['dispatch caller', ['GET']]]]]);
    const span = spans.find(({ kind }) => kind === 3);
    expect(headers['traceparent']).toBe(`00-${caller.traceId}-${span?.spanId}-01`);
    expect(span?.attributes).toMatchObject({ 'url.full': server.url, 'http.response.status_code': 200 });
  });

  it.skipIf(OTLP === undefined)('are traced by their server, not by their path (needs OTLP_ENDPOINT)', async () => {
    for (const path of ['/traced', '/inner', '/dead']) {
      const caller = traceparent('01');
      await call(path, { headers: { traceparent: caller.header } });
      const spans = await traceOf(caller.traceId);
      const texts = JSON.stringify(spans.map(({ name, attributes }) => [name, attributes]));
      expect(texts, path).toContain('"url.full":"http://127.0.0.');
      expect(texts, path).not.toContain('planted');
    }
  });

  it.each([
    ['no answer in time', '/silent', '-2'],
    ['a body that does not end in time', '/trickle', '-2'],
    ['a body that breaks off', '/cut', '-1'],
    ['nobody there', '/dead', '-1'],
    ['an address that egress does not allow', '/inner', '-3'],
    ['a redirect to such an address', '/outside', '-3'],
    ['a redirect to a file', '/to-a-file', '-3'],
    ['another protocol', '/ftp', '-3'],
    ['no URL', '/nonsense', '-3'],
    ['a body over GW_MAX_UPSTREAM_RESPONSE_BYTES', '/too-large', '-4'],
    ['one without a length', '/chunked', '-4'],
    ['a body over the limit of the call', '/own-limit', '-4'],
  ])('fail with a number that the plugin can go by: %s', async (_what, path, result) => {
    const response = await call(path);
    expect([response.status, (await jsonOf(response))['detail']]).toEqual([502, result]);
    expect(innerSeen).toBe(0);
    expect(await told(response)).not.toContain('planted');
  });

  it.each(['/dead', '/inner'])('are told of in the log by their server, not by their path: %s', async (path) => {
    expect(await told(await call(path))).toMatch(/^host_http_call: http:\/\/127\.0\.0\.[12]:\d+: (?!.*planted)/);
  });

  it.each([
    ['a header that frames the message', '/framed', "the header transfer-encoding is the gateway's"],
    ['a line break in a header', '/split', 'not a line of "name: value"'],
    ['30,000 spaces before what is not allowed', '/spaces', 'not a line of "name: value"'],
    ['a name that is none', '/unnamed', 'not a line of "name: value"'],
  ])('are not made with %s', async (_what, path, says) => {
    const before = server.seen.length;
    const response = await call(path);
    expect([response.status, (await jsonOf(response))['type']]).toEqual([500, 'urn:gw:error:plugin-failed']);
    await gw.logged(({ plugin, msg }) => plugin === 'caller' && msg.includes(says));
    expect(server.seen.length).toBe(before);
  });

  it('bring a body of exactly the limit', async () => {
    expect((await (await call('/largest')).text()).length).toBe(MAX);
  });

  it('follow redirects only where they say so, as often as they say', async () => {
    expect((await call('/redirect', { redirect: 'manual' })).status).toBe(302);
    expect(await jsonOf<Echo>(await call('/followed-302', { method: 'POST', body: 'x' }))).toMatchObject({
      method: 'GET',
      url: '/echo',
      body: '',
    });
    const init = { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } };
    expect(await jsonOf<Echo>(await call('/followed-307', init))).toMatchObject({ method: 'POST', body: 'x' });
    const before = server.seen.length;
    expect((await call('/loop', { redirect: 'manual' })).status).toBe(302);
    expect(server.seen.length - before).toBe(4);
  });

  it('need --allow-plaintext-upstream for http://', async () => {
    const document = {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      paths: { '/a': { get: { responses: {}, 'x-gw-dispatch': { name: 'caller', config: { url: server.url } } } } },
    };
    const strict = await startGateway(await compileSpec(document, [], [fixture('caller')]), {
      args: ['--allow-plaintext-upstream=false'],
    });
    expect(await jsonOf(await fetch(`${strict.url}/a`))).toMatchObject({ status: 502, detail: '-3' });
    expect((await strict.logged(({ plugin }) => plugin === 'caller')).msg).toContain('is plaintext');
    await strict.stop();
  });
});
