/** The plugins that change requests and responses, or redirect, through a real `gw serve`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Echo, type Gateway, jsonOf, startGateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

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
    expect(await get('/v1/a%0d%0ax:y')).toEqual([308, 'https://example.com/v2/a%0D%0Ax%3Ay']);
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
