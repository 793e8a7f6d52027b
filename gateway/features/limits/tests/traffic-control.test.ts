/**
 * The middlewares that admit or refuse requests, through a real `gw serve` (docs/reference/plugins.md#traffic-control).
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { h2, h2session, raw } from '../../../../test/serve/http.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const responses = { 200: { description: 'OK' } };
const mock = { name: 'mock', config: { body: 'fine', content_type: 'text/plain' } };
const run = (...middlewares: object[]) => ({ responses, 'x-gw-middlewares': middlewares, 'x-gw-dispatch': mock });
const document = (paths: object, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Traffic', version: '1' },
  paths,
  ...more,
});

describe('ip-restriction, through gw serve', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const paths = {
      '/inside': { get: run({ name: 'ip-restriction', config: { allow: ['10.0.0.0/8', '2001:db8::/32'] } }) },
      '/outside': { get: run({ name: 'ip-restriction', config: { deny: ['10.0.0.0/8'], status: 451 } }) },
    };
    const artifact = await compileSpec(document(paths), ['mock', 'ip-restriction']);
    gw = await startGateway(artifact, { args: ['--trusted-proxies', '127.0.0.1'] });
  });
  afterAll(async () => {
    await gw?.stop();
  });
  const from = (path: string, forwarded: string) => fetch(gw.url + path, { headers: { 'x-forwarded-for': forwarded } });

  // docs/decisions.md#client-address
  it('goes by the address behind trusted proxies', async () => {
    expect((await from('/inside', '10.1.2.3')).status).toBe(200);
    expect((await from('/inside', '::ffff:10.1.2.3')).status).toBe(200);
    expect((await from('/inside', '2001:db8::7')).status).toBe(200);
    expect((await from('/outside', '10.1.2.3')).status).toBe(451);
  });

  it('does not believe what stands left of the last untrusted address', async () => {
    const response = await from('/inside', '10.1.2.3, 203.0.113.9');
    expect([response.status, response.headers.get('content-type')]).toEqual([403, 'application/problem+json']);
    expect(await jsonOf(response)).toEqual({
      type: 'urn:gw:error:ip-restricted',
      title: 'Forbidden',
      status: 403,
      detail: 'Access denied',
      client_ip: '203.0.113.9',
    });
  });

  it('does not compile with what is no address, and names the property', async () => {
    const paths = { '/a': { get: run({ name: 'ip-restriction', config: { deny: ['10.0.0.0/8', 'fe80::1%eth0'] } }) } };
    await expect(compileSpec(document(paths), ['mock', 'ip-restriction'])).rejects.toThrow(/E1030.*deny\/1.*ip-range/s);
  });
});

describe('bot-detection, through gw serve', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const config = { deny: ['BadBot'], block_empty_ua: true };
    const paths = { '/page': { get: run({ name: 'bot-detection', config }) } };
    gw = await startGateway(await compileSpec(document(paths), ['mock', 'bot-detection']));
  });
  afterAll(async () => {
    await gw?.stop();
  });

  it('passes browsers, refuses bots and those that say nothing', async () => {
    const as = (agent: string) => fetch(`${gw.url}/page`, { headers: { 'user-agent': agent } });
    expect((await as('Mozilla/5.0')).status).toBe(200);
    const refused = await as('a badbot/1.0');
    expect(refused.status).toBe(403);
    expect(await jsonOf(refused)).toMatchObject({ type: 'urn:gw:error:bot-detected', user_agent: 'a badbot/1.0' });

    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.write('GET /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const text = await all;
    expect(text).toContain('HTTP/1.1 403');
    expect(text).not.toContain('user_agent');
  });
});

describe('request-size-limit, through gw serve', () => {
  let upstream: Upstream;
  let gw: Gateway;
  /** An upstream that tells which requests arrived whole, and which broke off. */
  let watching: Server;
  const whole: string[] = [];
  const broken: Promise<string>[] = [];
  beforeAll(async () => {
    upstream = await startUpstream();
    watching = createServer((request, response) => {
      const url = request.url ?? '';
      broken.push(new Promise((resolve) => request.on('close', () => resolve(request.complete ? 'whole' : 'broken'))));
      request.on('error', () => {});
      request.on('end', () => {
        whole.push(url);
        response.end('got it');
      });
      request.resume();
    });
    await new Promise<void>((resolve) => watching.listen(0, '127.0.0.1', resolve));
    const { port } = watching.address() as AddressInfo;
    const limit = (config: object) => ({ name: 'request-size-limit', config });
    const proxy = { name: 'http-upstream', config: { url: `http://127.0.0.1:${port}` } };
    const echo = { name: 'http-upstream', config: { url: upstream.url } };
    const text = { content: { 'text/plain': { schema: { type: 'string' } } } };
    const small = limit({ max_bytes: 1000 });
    const unannounced = limit({ max_bytes: 1000, check_content_length: false });
    const reader = { name: 'request-transformer', config: { body: { set: { '/seen': true } } } };
    const paths = {
      '/read-before': { post: run(reader, unannounced) },
      '/mock': { post: run(small) },
      '/mock-late': { post: run(unannounced) },
      '/stream': { post: { responses, 'x-gw-middlewares': [small], 'x-gw-dispatch': proxy } },
      '/stream-late': { post: { responses, 'x-gw-middlewares': [unannounced], 'x-gw-dispatch': proxy } },
      '/checked': { post: { responses, requestBody: text, 'x-gw-middlewares': [small], 'x-gw-dispatch': proxy } },
      '/echo': { post: { responses, 'x-gw-middlewares': [small], 'x-gw-dispatch': echo } },
    };
    const artifact = await compileSpec(document(paths), [
      'mock',
      'http-upstream',
      'request-size-limit',
      'request-transformer',
    ]);
    gw = await startGateway(artifact, { args: ['--max-body-size', '100000'] });
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
    watching?.closeAllConnections();
    watching?.close();
  });

  const chunked = (bytes: number) =>
    new ReadableStream({
      start(controller) {
        for (let sent = 0; sent < bytes; sent += 500)
          controller.enqueue(Buffer.alloc(Math.min(500, bytes - sent), 120));
        controller.close();
      },
    });
  const post = (path: string, body: string | ReadableStream) =>
    fetch(gw.url + path, { method: 'POST', body, headers: { 'content-type': 'text/plain' }, duplex: 'half' });

  it.each(['/mock', '/stream', '/checked'])('%s: refuses by Content-Length, with both sizes', async (path) => {
    const response = await post(path, 'x'.repeat(1001));
    expect(response.status).toBe(413);
    expect(await jsonOf(response)).toEqual({
      type: 'urn:gw:error:payload-too-large',
      title: 'Payload Too Large',
      status: 413,
      detail: 'The request body has 1001 bytes; the limit is 1000 bytes.',
    });
    expect((await post(path, 'x'.repeat(1000))).status).toBe(200);
  });

  it.each(['/mock', '/stream', '/checked'])('%s: refuses a chunked body once it is too long', async (path) => {
    const response = await post(path, chunked(3000));
    expect(response.status).toBe(413);
    const { detail, type } = await jsonOf(response);
    expect(type).toBe('urn:gw:error:payload-too-large');
    expect(detail).toMatch(/^The request body has \d{4} bytes or more; the limit is 1000 bytes\.$/);
    expect((await post(path, chunked(1000))).status).toBe(200);
  });

  it.each(['/mock-late', '/stream-late'])('%s: checks the body where it may not check the header', async (path) => {
    expect((await post(path, 'x'.repeat(1001))).status).toBe(413);
    expect((await post(path, 'x'.repeat(1000))).status).toBe(200);
  });

  it.each(['/mock', '/stream', '/checked'])('%s: counts over HTTP/2, with and without Content-Length', async (path) => {
    const session = await h2session(gw.url);
    const head = { ':method': 'POST', ':path': path, 'content-type': 'text/plain' };
    expect((await h2(session, head, 'x'.repeat(1001))).status).toBe(413);
    expect((await h2(session, head, 'x'.repeat(1000))).status).toBe(200);
    expect((await h2(session, { ...head, 'content-length': '1001' }, 'x'.repeat(1001))).status).toBe(413);
    session.close();
  });

  it('never gives an upstream a whole request that is too long', async () => {
    for (const response of [post('/stream', chunked(90_000)), post('/stream-late', 'x'.repeat(90_000))]) {
      const before = [whole.length, broken.length];
      expect((await response).status).toBe(413);
      expect(whole.length).toBe(before[0]);
      expect(await Promise.all(broken.slice(before[1]))).not.toContain('whole');
    }
  });

  it('checks a body that an earlier plugin has had read', async () => {
    const send = (text: string) =>
      fetch(`${gw.url}/read-before`, {
        method: 'POST',
        body: JSON.stringify({ text }),
        headers: { 'content-type': 'application/json' },
      });
    expect((await send('x')).status).toBe(200);
    const refused = await send('x'.repeat(2000));
    expect(refused.status).toBe(413);
    expect((await jsonOf(refused))['detail']).toMatch(/^The request body has 20\d\d bytes; the limit is 1000 bytes\.$/);
  });

  it('leaves framing alone: a Content-Length that is within the limit goes on with its body', async () => {
    await post('/echo', 'x'.repeat(900));
    expect(upstream.seen.at(-1)?.headers['content-length']).toBe('900');
  });

  it('comes behind --max-body-size, which answers 400', async () => {
    expect((await post('/mock', 'x'.repeat(100_001))).status).toBe(400);
    expect((await post('/mock', 'x'.repeat(100_000))).status).toBe(413);
  });
});

describe('acl, through gw serve', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const keys = [
      { key: 'k-alice', id: 'alice', scopes: ['editors', 'Vertrieb, Köln'] },
      { key: 'k-bob', id: 'bob', scopes: ['readers'] },
    ];
    const auth = { name: 'apikey-auth', config: { keys } };
    const behind = (config: object) => ({ security: [{ key: [] }], ...run(auth, { name: 'acl', config }) });
    const paths = {
      '/edit': { get: behind({ allow_groups: ['editors'] }) },
      '/sell': { get: behind({ allow_groups: ['Vertrieb, Köln'] }) },
      '/bob': { get: behind({ deny_consumers: ['alice'] }) },
      '/open': { get: run({ name: 'acl', config: {} }) },
    };
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } };
    gw = await startGateway(await compileSpec(document(paths, { components }), ['mock', 'apikey-auth', 'acl']));
  });
  afterAll(async () => {
    await gw?.stop();
  });
  const get = async (path: string, headers: Record<string, string>) => (await fetch(gw.url + path, { headers })).status;

  it('goes by the consumer and the groups that the authentication found', async () => {
    const [alice, bob] = [{ 'x-api-key': 'k-alice' }, { 'x-api-key': 'k-bob' }];
    expect([await get('/edit', alice), await get('/edit', bob)]).toEqual([200, 403]);
    expect([await get('/sell', alice), await get('/sell', bob)]).toEqual([200, 403]);
    expect([await get('/bob', alice), await get('/bob', bob)]).toEqual([403, 200]);
  });

  it('believes no client that names a consumer or a group itself, and answers 401', async () => {
    const forged = { 'x-auth-consumer': 'alice', 'x-auth-consumer-groups': 'editors' };
    expect(await get('/edit', { ...forged, 'x-api-key': 'k-bob' })).toBe(403);
    const response = await fetch(`${gw.url}/open`, { headers: forged });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await jsonOf(response)).toMatchObject({ type: 'urn:gw:error:unauthorized' });
  });
});
