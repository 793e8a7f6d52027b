/** Clients are told only of tools that they may call (docs/mcp.md#only-permitted), through a real `gw serve`. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { openSession, post } from './mcp-project.ts';
import { ANY_OBJECT, type McpServer, startMcpServer } from './mcp-servers.ts';

const PLUGINS = ['mock', 'apikey-auth', 'jwt-auth', 'acl', 'cel', 'rate-limit'];
const KEYED = {
  name: 'apikey-auth',
  config: {
    keys: [
      { key: 'k-alice', id: 'alice', scopes: ['readers'] },
      { key: 'k-bob', id: 'bob', scopes: ['readers', 'admins'] },
    ],
  },
};
const acl = (config: object) => ({ name: 'acl', config });
const cel = (expression: string, more: object = { deny: {} }) => ({
  name: 'cel',
  config: { expression, on_match: more },
});
/** A call of it costs the caller one of two; being told of it costs nothing. */
const TWICE = { name: 'rate-limit', config: { quota: 2, window: 3600, partition_key: 'client_ip' } };

/** By name: what runs before a mock. */
const CHAINS: Readonly<Record<string, readonly object[]>> = {
  adminsOnly: [TWICE, KEYED, acl({ allow_groups: ['admins'] })],
  anyone: [],
  argument: [KEYED, cel('request.query.kind[0] == "secret"')],
  aclWithoutCredentials: [acl({ allow_groups: ['admins'] })],
  hidesFromAlice: [KEYED, cel('request.consumer == "alice"', { deny: { status: 404 } })],
  marksAlice: [KEYED, cel('request.consumer == "alice"', { set_context: { tier: 'gold' } })],
  notAlice: [KEYED, acl({ deny_consumers: ['alice'] })],
  readers: [KEYED, acl({ allow_groups: ['readers'] })],
  refusesAll: [cel('request.method == "GET"')],
  writes: [KEYED, cel('request.method != "GET" && !("admins" in request.groups)')],
};
const OF_ALICE = ['aclWithoutCredentials', 'anyone', 'argument', 'marksAlice', 'readers'];
const OF_BOB = Object.keys(CHAINS)
  .filter((name) => name !== 'refusesAll')
  .sort();
const WITH_UPSTREAM = [...OF_BOB, 'tickets_open'].sort();

function documentOf(settings: object) {
  const paths = Object.entries(CHAINS).map(([operationId, middlewares]) => {
    const operation = {
      operationId,
      summary: `The thing ${operationId}`,
      parameters: [{ name: 'kind', in: 'query', schema: { type: 'string' } }],
      security: middlewares.includes(KEYED) ? [{ key: [] }] : [],
      responses: { 200: { description: 'x' } },
      'x-gw-middlewares': middlewares,
      'x-gw-dispatch': { name: 'mock', config: {} },
    };
    return [`/${operationId}`, { [operationId === 'writes' ? 'post' : 'get']: operation }];
  });
  const mayUse = {
    operationId: 'mayUse',
    'x-gw-mcp': { enabled: false },
    security: [{ key: [] }],
    'x-gw-middlewares': [KEYED, acl({ allow_groups: ['admins'] })],
    'x-gw-dispatch': { name: 'mock', config: {} },
    responses: { 200: { description: 'x' } },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    'x-gw-mcp': { enabled: true, ...settings },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    paths: { ...Object.fromEntries(paths), '/may-use': { post: mayUse } },
  };
}

let tickets: McpServer;
let gw: Gateway;
let searching: Gateway;

beforeAll(async () => {
  const tool = { definition: { name: 'open', inputSchema: ANY_OBJECT }, call: () => ({ content: [] }) };
  const methods = { 'prompts/list': () => ({ prompts: [{ name: 'write', arguments: [] }] }) };
  tickets = await startMcpServer('sessions', [tool], { methods });
  const mcp = { upstreams: { tickets: { url: tickets.url, prefix: 'tickets_', authorize: 'mayUse' } } };
  const start = async (settings: object) =>
    startGateway(await compileSpec(documentOf(settings), PLUGINS, [], {}, { mcp }));
  [gw, searching] = await Promise.all([start({ only_permitted: true }), start({ only_permitted: true, search: true })]);
  await eventually(async () => expect(await told({ 'x-api-key': 'k-bob' })).toContain('tickets_open'));
});
afterAll(async () => {
  expect(await Promise.all([gw?.stop(), searching?.stop()])).toEqual([0, 0]);
  await tickets?.close();
});

type Named = readonly { readonly name: string }[];

async function listed(method: string, headers: Record<string, string>): Promise<string[]> {
  const session = await openSession(gw.url);
  const { body } = await post(gw.url, { jsonrpc: '2.0', id: 1, method }, { ...session, ...headers });
  return (Object.values(body?.result ?? {})[0] as Named).map(({ name }) => name);
}
const told = (headers: Record<string, string>) => listed('tools/list', headers);

describe('a list', () => {
  it('leaves out what acl and cel refuse to the caller, and nothing that depends on arguments', async () => {
    expect(await told({ 'x-api-key': 'k-alice' })).toEqual(OF_ALICE);
    expect(await told({ 'x-api-key': 'k-bob' })).toEqual(WITH_UPSTREAM);
  });

  it('has all that a caller might get by authenticating', async () => {
    expect(await told({})).toEqual(WITH_UPSTREAM);
    expect(await told({ 'x-api-key': 'wrong' })).toEqual(WITH_UPSTREAM);
  });

  it('has prompts of upstreams whose operation lets the caller pass', async () => {
    expect(await listed('prompts/list', { 'x-api-key': 'k-alice' })).toEqual([]);
    expect(await listed('prompts/list', { 'x-api-key': 'k-bob' })).toEqual(['tickets_write']);
  });

  it('costs no turn of a rate limit, and is the answer that a call gets', async () => {
    const session = await openSession(gw.url);
    const call = async (name: string, key: string) => {
      const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name } };
      return (await post(gw.url, message, { ...session, 'x-api-key': key })).status;
    };
    for (let i = 0; i < 5; i++) await told({ 'x-api-key': 'k-alice' });
    expect([await call('adminsOnly', 'k-alice'), await call('adminsOnly', 'k-bob')]).toEqual([403, 200]);
    expect(await call('readers', 'k-alice')).toBe(200);
  });

  it('is the same for the stateless revision, and is not kept for others', async () => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const requestInit = { headers: { 'x-api-key': 'k-alice' } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gw.url}/__gw/mcp`), { requestInit }));
    const { tools, ...rest } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(OF_ALICE);
    expect(rest).toMatchObject({ cacheScope: 'private' });
    await client.close();
  });
});

describe('search mode', () => {
  const call = async (key: string, name: string, args: object) => {
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: args } };
    const headers = { ...(await openSession(searching.url)), 'x-api-key': key };
    return (await post(searching.url, message, headers)).body?.result;
  };

  it('finds and describes what the caller may call, and no less of it', async () => {
    const found = async (key: string) => {
      const result = await call(key, 'search_tools', { query: 'thing', limit: 20 });
      return ((result?.['structuredContent'] ?? { tools: [] }) as { tools: Named }).tools
        .map((tool) => tool.name)
        .sort();
    };
    expect(await found('k-alice')).toEqual(OF_ALICE);
    expect(await found('k-bob')).toEqual(OF_BOB);
    expect((await call('k-alice', 'describe_tool', { name: 'notAlice' }))?.isError).toBe(true);
    expect(await call('k-bob', 'describe_tool', { name: 'notAlice' })).toMatchObject({
      structuredContent: { name: 'notAlice' },
    });
  });
});
