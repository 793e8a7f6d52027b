/**
 * `x-gw-dispatch` and `x-gw-middlewares` around operations (docs/reference/gateway.md#inheritance,
 * docs/decisions.md#extensions-inherited).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { readArtifact } from '../artifact/read.ts';
import { compile, describeSpec } from './index.ts';

async function compiled(document: object, more: Record<string, object> = {}) {
  const files = Object.entries({ 'a.json': document, ...more }).map(([name, value]) => ({
    name,
    bytes: Buffer.from(JSON.stringify(value)),
  }));
  const result = await compile({ specs: ['a.json'], files, plugins: fakePlugins, flags: {} });
  const found = result.diagnostics.map(({ code, pointer }) => `${code} ${pointer}`);
  const { diagnostics } = result;
  if (!result.ok) return { found, diagnostics, routes: null, tools: null, inherited: [], plugins: [] };
  const { routes, tools, manifest } = await readArtifact(result.artifact);
  return { found, diagnostics, routes, tools, inherited: result.inherited, plugins: manifest.plugins ?? [] };
}

const HEAD = { openapi: '3.1.0', info: { title: 'x', version: '1' }, 'x-gw-mcp': { enabled: true } };
const ASYNC = { asyncapi: '3.0.0', info: { title: 'x', version: '1' } };
const limit = (quota: number) => ({ name: 'rate-limit', config: { quota, window: 1 } });
const chains = (routes: Awaited<ReturnType<typeof compiled>>['routes']) =>
  routes?.operations.map(({ method, path, middlewares, dispatch }) => [
    `${method} ${path}`,
    [...middlewares, dispatch].map(({ name, config }) => `${name}${config['quota'] ?? config['status'] ?? ''}`).join(),
  ]);

interface Entry {
  readonly id?: string;
  readonly name: string;
  readonly config: object;
  readonly enabled?: boolean;
}
interface Layer {
  readonly dispatch?: object | false | undefined;
  readonly middlewares?: readonly Entry[] | undefined;
}

const enabled = fc.option(fc.boolean(), { nil: undefined });
const uses = fc.oneof(fc.integer({ min: 1, max: 9 }).map(limit), fc.constant({ name: 'cors', config: {} }));
const withIds = fc
  .uniqueArray(fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), use: uses, enabled }), {
    selector: ({ id }) => id,
    maxLength: 4,
  })
  .map((list): Entry[] =>
    list.map(({ id, use, enabled: on }) => ({ id, ...use, ...(on === undefined ? {} : { enabled: on }) })),
  );
const withoutIds = fc
  .uniqueArray(fc.record({ use: uses, enabled }), { selector: ({ use }) => use.name })
  .map((list): Entry[] =>
    list.map(({ use, enabled: on }) => ({ ...use, ...(on === undefined ? {} : { enabled: on }) })),
  );
const layer = (entries: fc.Arbitrary<Entry[]>): fc.Arbitrary<Layer> =>
  fc.record({
    dispatch: fc.oneof(
      fc.constant(undefined),
      fc.constant<false>(false),
      fc.integer({ min: 200, max: 203 }).map((status) => ({ name: 'mock', config: { status } })),
    ),
    middlewares: fc.option(entries, { nil: undefined }),
  });
const levels = fc.constantFrom(withIds, withoutIds).chain((entries) =>
  fc.record({
    root: layer(entries),
    items: fc.array(
      fc.record({ item: layer(entries), operations: fc.array(layer(entries), { minLength: 1, maxLength: 3 }) }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
);
const METHODS = ['get', 'post', 'delete'];

const write = ({ dispatch, middlewares }: Layer) => ({
  ...(dispatch === undefined ? {} : { 'x-gw-dispatch': dispatch }),
  ...(middlewares === undefined ? {} : { 'x-gw-middlewares': middlewares }),
});

/** What the layers come to, written on the operation: a map keeps the place of what it replaces. */
function flat(...layers: readonly Layer[]): Layer {
  const chain = new Map<string, Entry>();
  for (const { middlewares = [] } of layers) {
    for (const entry of middlewares) {
      if (entry.enabled === false) chain.delete(entry.id ?? entry.name);
      else chain.set(entry.id ?? entry.name, entry);
    }
  }
  return {
    dispatch: layers.findLast(({ dispatch }) => dispatch !== undefined)?.dispatch,
    middlewares: [...chain.values()].map(({ name, config }) => ({ name, config })),
  };
}

describe('extensions around operations', () => {
  it('routes and tools are those of the document with all of it written at each operation', async () => {
    await fc.assert(
      fc.asyncProperty(levels, async ({ root, items }) => {
        const paths = (of: (around: Layer, operation: Layer) => object, around: (item: Layer) => object) =>
          Object.fromEntries(
            items.map(({ item, operations }, i) => [
              `/${i}`,
              {
                ...around(item),
                ...Object.fromEntries(
                  operations.map((each, k) => [METHODS[k], { operationId: `o${i}${k}`, ...of(item, each) }]),
                ),
              },
            ]),
          );
        const short = { ...HEAD, ...write(root), paths: paths((_, own) => write(own), write) };
        const long = {
          ...HEAD,
          paths: paths(
            (item, own) => write(flat(root, item, own)),
            () => ({}),
          ),
        };
        const [one, other] = [await compiled(short), await compiled(long)];
        expect(one.routes).not.toBeNull();
        expect(one.routes).toEqual(other.routes);
        expect(one.tools).toEqual(other.tools);
        expect(one.plugins).toEqual(other.plugins);
      }),
      propertyRuns(60),
    );
  });

  it('lists what became a route or a tool by inheritance, and what console and CLI show has it', async () => {
    const document = {
      ...HEAD,
      'x-gw-dispatch': { name: 'mock' },
      'x-gw-middlewares': [limit(1)],
      paths: {
        '/a': { get: { operationId: 'getA' }, post: { 'x-gw-dispatch': { name: 'mock' } } },
        '/b': { 'x-gw-dispatch': false, get: {}, put: { 'x-gw-dispatch': { name: 'mock' } } },
      },
    };
    const { found, inherited, routes } = await compiled(document);
    expect(found).toEqual([]);
    expect(inherited).toEqual([{ method: 'GET', path: '/a', tool: 'getA', file: 'a.json', pointer: '/x-gw-dispatch' }]);
    expect(chains(routes)).toEqual([
      ['GET /a', 'rate-limit1,mock200'],
      ['POST /a', 'rate-limit1,mock200'],
      ['PUT /b', 'rate-limit1,mock200'],
    ]);
    const described = describeSpec('a.json', [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }]);
    expect(
      described.ok &&
        described.spec.operations.map(({ dispatch, middlewares }) => [dispatch?.name, middlewares.length]),
    ).toEqual([
      ['mock', 1],
      ['mock', 1],
      [undefined, 1],
      ['mock', 1],
    ]);
  });

  it('a path item in a file of its own inherits, webhooks and callbacks do not', async () => {
    const item = { 'x-gw-middlewares': [limit(2)], get: {} };
    const document = {
      ...HEAD,
      'x-gw-dispatch': { name: 'mock' },
      'x-gw-middlewares': [{ ...limit(1), id: 'all' }],
      paths: { '/a': { $ref: './item.json' } },
      webhooks: { w: { post: {} } },
    };
    const { found, routes } = await compiled(document, { 'item.json': item });
    expect(found).toEqual([]);
    expect(chains(routes)).toEqual([['GET /a', 'rate-limit1,rate-limit2,mock200']]);
  });

  it('an operation without security under an inherited authentication says how to leave it out', async () => {
    const auth = { name: 'apikey-auth', config: { keys: [{ key: 'env://K', id: 'a' }] } };
    const document = (own: object) => ({
      ...HEAD,
      security: [{ key: [] }],
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
      'x-gw-dispatch': { name: 'mock' },
      'x-gw-middlewares': [auth],
      paths: { '/a': { get: {} }, '/public': { get: { security: [], ...own } } },
    });
    const refused = await compiled(document({}));
    expect(refused.found).toEqual(['E1057 /paths/~1public/get']);
    expect(refused.diagnostics[0]?.hint).toContain('x-gw-middlewares: [{ id: apikey-auth, enabled: false }]');
    const { found, routes } = await compiled(document({ 'x-gw-middlewares': [{ id: 'apikey-auth', enabled: false }] }));
    expect(found).toEqual([]);
    expect(chains(routes)).toEqual([
      ['GET /a', 'apikey-auth,mock200'],
      ['GET /public', 'mock200'],
    ]);
  });

  it('operations of AsyncAPI inherit from the root and their traits what fits their action', async () => {
    const { found, routes, inherited } = await compiled({
      ...ASYNC,
      'x-gw-dispatch': { name: 'mock' },
      'x-gw-middlewares': [limit(1)],
      channels: { orders: { address: 'orders', messages: { placed: { payload: {} } } } },
      operations: {
        send: {
          action: 'send',
          channel: { $ref: '#/channels/orders' },
          traits: [{ 'x-gw-middlewares': [{ name: 'cors' }] }],
          'x-gw-middlewares': [limit(3)],
        },
        receive: { action: 'receive', channel: { $ref: '#/channels/orders' } },
      },
    });
    expect(found.filter((each) => !each.startsWith('E1020'))).toEqual([]);
    expect(chains(routes)).toEqual([['POST /orders', 'rate-limit3,cors,mock200']]);
    expect(inherited.map(({ pointer }) => pointer)).toEqual(['/x-gw-dispatch']);
  });

  it('a WebSocket at the root leaves what clients send to its operation', async () => {
    const { found, routes } = await compiled({
      ...ASYNC,
      'x-gw-dispatch': { name: 'ws-upstream' },
      channels: { room: { address: 'room', messages: { said: { payload: { type: 'string' } } } } },
      operations: {
        hear: { action: 'receive', channel: { $ref: '#/channels/room' } },
        say: { action: 'send', channel: { $ref: '#/channels/room' } },
      },
    });
    expect(found).toEqual([]);
    expect(chains(routes)).toEqual([['GET /room', 'ws-upstream']]);
    expect(routes?.operations[0]?.messages).toBeDefined();
  });

  it('what is taken out is neither a route nor judged', async () => {
    const { found, routes } = await compiled({
      ...HEAD,
      'x-gw-dispatch': { name: 'mock' },
      paths: { '/a': { get: {}, post: { 'x-gw-dispatch': false, 'x-gw-middlewares': [{ name: 'nobody' }] } } },
    });
    expect(found).toEqual([]);
    expect(routes?.operations.length).toBe(1);
  });
});
