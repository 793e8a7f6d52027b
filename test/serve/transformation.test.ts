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
