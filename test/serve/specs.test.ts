/**
 * The reserved spec endpoints (docs/reference/gateway.md#served-specs, docs/decisions.md#hidden-endpoints), through a
 * real `gw serve`.
 */
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../gateway/src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { type Gateway, jsonOf, startGateway } from './gateway.ts';

const operation = {
  responses: { 200: { description: 'OK' } },
  'x-sunset': '2030-01-01',
  'x-gw-dispatch': { name: 'mock', config: { body: 'planted-config' } },
};

async function artifact(): Promise<Uint8Array> {
  return (await compiled(['books.json', 'orders.json', 'events.json'])).artifact;
}

async function compiled(specs: readonly string[]) {
  const spec = (title: string, path: string) => ({
    openapi: '3.1.0',
    info: { title, version: '1' },
    paths: { [path]: { get: operation } },
    components: { schemas: { Thing: { title } } },
  });
  const file = (name: string, value: object) => ({ name, bytes: Buffer.from(JSON.stringify(value)) });
  const events = { asyncapi: '3.0.0', info: { title: 'Events', version: '1' }, channels: {}, operations: {} };
  const result = await compile({
    specs,
    files: [
      file('books.json', spec('Books', '/books')),
      file('orders.json', spec('Orders', '/orders')),
      file('events.json', events),
    ],
    plugins: [loadBuiltinPlugin('mock')],
    flags: {},
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result;
}

describe('reserved spec endpoints', () => {
  let gw: Gateway;
  beforeAll(async () => {
    gw = await startGateway(await artifact());
  });
  afterAll(async () => {
    await gw?.stop();
  });
  const get = (path: string, init: RequestInit = {}) => fetch(gw.url + path, init);

  it('list the specs', async () => {
    expect(await jsonOf(await get('/__gw/specs'))).toEqual({
      openapi: {
        specs: [
          { name: 'books.json', url: '/__gw/specs/books.json' },
          { name: 'orders.json', url: '/__gw/specs/orders.json' },
        ],
        count: 2,
        merged_url: '/__gw/specs/openapi',
      },
      asyncapi: {
        specs: [{ name: 'events.json', url: '/__gw/specs/events.json' }],
        count: 1,
        merged_url: '/__gw/specs/asyncapi',
      },
    });
  });

  it('name no merged document where there is none', async () => {
    const { artifact: books } = await compiled(['books.json']);
    const gw = await startGateway(books);
    const { asyncapi } = await jsonOf<{ asyncapi: object }>(await fetch(`${gw.url}/__gw/specs`));
    expect(asyncapi).toEqual({ specs: [], count: 0 });
    await gw.stop();
  });

  it('serve one, in YAML by default, without our extensions', async () => {
    const response = await get('/__gw/specs/books.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/yaml']);
    const text = await response.text();
    expect(text).not.toMatch(/x-gw-|planted-config/);
    expect(load(text)).toMatchObject({ paths: { '/books': { get: { 'x-sunset': '2030-01-01' } } } });
    const json = await get('/__gw/specs/books.json?format=json');
    expect(json.headers.get('content-type')).toBe('application/json');
    expect(await jsonOf(json)).toEqual(load(text));
  });

  it('serve all of a kind merged', async () => {
    const merged = await jsonOf<{ paths: object; components: { schemas: object } }>(
      await get('/__gw/specs/openapi?format=json'),
    );
    expect(Object.keys(merged.paths)).toEqual(['/books', '/orders']);
    expect(Object.keys(merged.components.schemas)).toEqual(['Thing', 'Thing_orders']);
    expect(load(await (await get('/__gw/specs/asyncapi')).text())).toMatchObject({ asyncapi: '3.0.0' });
  });

  it('answer conditional requests', async () => {
    const etag = (await get('/__gw/specs/openapi')).headers.get('etag') ?? '';
    const again = await get('/__gw/specs/openapi', { headers: { 'if-none-match': `"x", ${etag}` } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await get('/__gw/specs/openapi?format=json')).headers.get('etag')).not.toBe(etag);
  });

  it('refuse the rest with problem documents', async () => {
    const type = async (response: Response) => [response.status, (await jsonOf(response))['type']];
    expect(await type(await get('/__gw/specs/none.json'))).toEqual([404, 'urn:gw:error:route-not-found']);
    expect(await type(await get('/__gw/specs/..%2fmanifest.json'))).toEqual([400, 'urn:gw:error:malformed-request']);
    expect(await type(await get('/__gw/specs/books.json?format=xml'))).toEqual([400, 'urn:gw:error:validation-failed']);
    expect(await type(await get('/__gw/specs', { method: 'POST' }))).toEqual([405, 'urn:gw:error:method-not-allowed']);
  });

  it('are hidden where that is wanted', async () => {
    const hidden = await startGateway(await artifact(), { args: ['--expose-specs=false', '--expose-health=false'] });
    for (const path of ['/__gw/specs', '/__gw/specs/openapi', '/__gw/health']) {
      expect((await fetch(hidden.url + path)).status, path).toBe(404);
    }
    expect((await fetch(`${hidden.admin}/health`)).status).toBe(200);
    await hidden.stop();
  });
});
