/** The plugins that change requests and responses, or redirect, through a real `gw serve`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Echo, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const responses = { 200: { description: 'OK' } };
const document = (paths: object) => ({ openapi: '3.1.0', info: { title: 'Changes', version: '1' }, paths });
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(async () => {
  await upstream?.close();
});
const proxied = (...middlewares: object[]) => ({
  responses,
  'x-gw-middlewares': middlewares,
  'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
});

describe('correlation-id, through gw serve', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const named = { name: 'correlation-id', config: { header_name: 'X-Correlation-Id' } };
    const artifact = await compileSpec(document({ '/a': { get: proxied(named) } }), [
      'http-upstream',
      'correlation-id',
    ]);
    gw = await startGateway(artifact);
  });
  afterAll(async () => {
    await gw?.stop();
  });

  it('gives client and upstream one identifier: the client’s own, or a new one', async () => {
    const fresh = await fetch(`${gw.url}/a`);
    const id = fresh.headers.get('x-correlation-id');
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await jsonOf<Echo>(fresh)).headers['x-correlation-id']).toBe(id);

    const own = await fetch(`${gw.url}/a`, { headers: { 'x-correlation-id': 'order-17' } });
    expect(own.headers.get('x-correlation-id')).toBe('order-17');
    expect((await jsonOf<Echo>(own)).headers['x-correlation-id']).toBe('order-17');

    const bad = await fetch(`${gw.url}/a`, { headers: { 'x-correlation-id': 'a b' } });
    expect(bad.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('redirect, through gw serve', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const redirect = (config: object) => ({ name: 'redirect', config });
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
    const rest = { ...id, name: 'rest', allowReserved: true };
    const paths = {
      '/v1/{id}': {
        get: {
          responses,
          parameters: [id],
          'x-gw-dispatch': redirect({ target: 'https://example.com/v2/{id}', status: 308 }),
        },
      },
      '/to/{rest+}': { get: { responses, parameters: [rest], 'x-gw-dispatch': redirect({ target: '/{rest}' }) } },
    };
    gw = await startGateway(await compileSpec(document(paths), ['redirect']));
  });
  afterAll(async () => {
    await gw?.stop();
  });
  const get = async (path: string) => {
    const { status, headers } = await fetch(gw.url + path, { redirect: 'manual' });
    return [status, headers.get('location')];
  };

  it('sends on, with parameter and query', async () => {
    expect(await get('/v1/a%20b?x=1')).toEqual([308, 'https://example.com/v2/a%20b?x=1']);
    expect(await get('/v1/a%0d%0ax:y')).toEqual([308, 'https://example.com/v2/a%0d%0ax:y']);
    expect(await get('/to/some/where')).toEqual([302, '/some/where']);
  });

  it('is no open redirect', async () => {
    for (const path of [
      '/to//evil.example',
      '/to/%2Fevil.example',
      '/to/%5Cevil.example',
      '/to/https://evil.example',
    ]) {
      const [, location] = await get(path);
      expect(new URL(String(location), gw.url).origin).toBe(gw.url);
    }
  });
});

describe('request-transformer, through gw serve', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const change = (config: object) => ({ name: 'request-transformer', config });
    const tenant = { name: 'tenant', in: 'path', required: true, schema: { type: 'string' } };
    const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
    const requestBody = { content: { 'application/json': { schema } } };
    const everything = change({
      headers: {
        set: { 'X-Tenant': '{{path_params.tenant}}', 'X-Asked-By': '{{headers.x-who}}' },
        rename: [{ from: 'X-Old', to: 'X-New' }],
        remove: ['user-agent'],
      },
      query: { set: { limit: '100' }, remove: ['debug'] },
      body: { set: { '/ip': '{{request.client_ip}}' }, remove: ['/password'] },
    });
    const document2 = document({
      '/t/{tenant}': { post: { ...proxied(everything), parameters: [tenant], requestBody } },
      '/stream': { post: proxied(change({ headers: { set: { 'x-a': '1' } } })) },
    });
    gw = await startGateway(await compileSpec(document2, ['http-upstream', 'request-transformer']));
  });
  afterAll(async () => {
    await gw?.stop();
  });
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(gw.url + path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

  it('changes what the upstream gets: headers, query and body', async () => {
    const headers = { 'x-who': 'me', 'x-old': 'kept', 'x-other': 'dropped' };
    const response = await post('/t/a%0d%0ab?debug=1&page=2', '{"name":"Ann","password":"p"}', headers);
    const { url, body, headers: got } = await jsonOf<Echo>(response);
    expect(url).toBe('/t/a%0d%0ab?page=2&limit=100');
    expect(JSON.parse(body)).toEqual({ name: 'Ann', ip: '127.0.0.1' });
    expect(got['content-length']).toBe(String(body.length));
    expect(got).toMatchObject({ 'x-tenant': 'a%0D%0Ab', 'x-asked-by': 'me', 'x-new': 'kept' });
    for (const gone of ['user-agent', 'x-old', 'x-other']) expect(got).not.toHaveProperty(gone);
  });

  it('changes only bodies that the description allows', async () => {
    expect((await post('/t/a', '{"password":"p"}')).status).toBe(400);
  });

  it('streams a body that it does not change', async () => {
    const { body, headers } = await jsonOf<Echo>(await post('/stream', '{"name'));
    expect([body, headers['x-a'], headers['content-length']]).toEqual(['{"name', '1', '6']);
  });

  it('does not compile with headers that are not for plugins to change', async () => {
    const config = { headers: { set: { 'Transfer-Encoding': 'chunked' } } };
    const paths = document({ '/a': { get: proxied({ name: 'request-transformer', config }) } });
    await expect(compileSpec(paths, ['http-upstream', 'request-transformer'])).rejects.toThrow(/E1030.*headers\/set/s);
  });
});

describe('response-transformer, through gw serve', () => {
  let origin: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    origin = await startUpstream((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.setHeader('x-powered-by', 'someone');
      if (request.url === '/endless') {
        response.write('{"first":1');
        return;
      }
      const compressed = request.headers['accept-encoding'] !== undefined;
      const body = request.url === '/broken' ? '{"secret":1' : '{"id":1,"secret":"s"}';
      response.end(compressed ? 'compressed' : body);
    });
    const change = (config: object) => ({
      get: {
        responses,
        'x-gw-middlewares': [{ name: 'response-transformer', config }],
        'x-gw-dispatch': { name: 'http-upstream', config: { url: origin.url } },
      },
    });
    const headers = { remove: ['X-Powered-By'], set: { 'X-Path': '{{request.path}}' } };
    const paths = {
      '/whole': change({ headers, body: { remove: ['/secret'], set: { '/self': '{{request.path}}' } } }),
      '/broken': change({ body: { remove: ['/secret'] } }),
      '/endless': change({ headers }),
    };
    gw = await startGateway(await compileSpec(document(paths), ['http-upstream', 'response-transformer']));
  });
  afterAll(async () => {
    await gw?.stop();
    await origin?.close();
  });

  it('changes headers and body of what the upstream answers', async () => {
    const response = await fetch(`${gw.url}/whole`, { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(response.headers.get('x-path')).toBe('/whole');
    const text = await response.text();
    expect(text).toBe('{"id":1,"self":"/whole"}');
    expect(response.headers.get('content-length')).toBe(String(text.length));
  });

  it('sends nothing of a body that it cannot change', async () => {
    const response = await fetch(`${gw.url}/broken`);
    expect(response.status).toBe(502);
    expect(await response.text()).not.toContain('secret');
  });

  it('lets responses stream whose body it does not change', async () => {
    const response = await fetch(`${gw.url}/endless`);
    expect(response.headers.get('x-path')).toBe('/endless');
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('{"first":1');
    await reader?.cancel();
  });
});
