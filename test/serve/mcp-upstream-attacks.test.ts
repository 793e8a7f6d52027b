/** What upstream MCP servers may try, and what happens on the way to them (docs/mcp.md#upstream-calls). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { type HostileServer, hostile, listing, startHostile, tool } from './mcp-hostile.ts';
import { openSession, post } from './mcp-project.ts';
import { ANY_OBJECT, type McpServer, startMcpServer } from './mcp-servers.ts';

const KEY = 'Bearer s3cr3t-of-the-gateway';
const text = (said: unknown) => ({ content: [{ type: 'text', text: String(said) }] });
/** Calls of `wait` by the argument `as`. */
const waits = new Map<string, { readonly signal: AbortSignal; readonly end: () => void }>();
/** What the server whose texts are of other kinds has beside `good`. */
const ODD = [
  '{"name":{"toString":1,"valueOf":1},"inputSchema":{"type":"object"}}',
  '{"name":1e5,"inputSchema":{"type":"object"}}',
  '{"name":null,"inputSchema":{"type":"object"}}',
];
const INEXACT =
  '{"name":"inexact","inputSchema":{"type":"object","properties":{"p":{"type":"number","minimum":0.0,"maximum":1e3,"default":12345678901234567890}}}}';

const started: HostileServer[] = [];
let early: McpServer;
let gw: Gateway;

const rpc = (id: unknown, result: string) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;

beforeAll(async () => {
  early = await startMcpServer('sessions', [
    {
      definition: { name: 'wait', inputSchema: ANY_OBJECT },
      call: ({ as }, { signal }) =>
        new Promise((resolve) => waits.set(String(as), { signal, end: () => resolve(text(as)) })),
    },
  ]);
  const servers = {
    odd: hostile((method, _, { id }) =>
      method === 'tools/list'
        ? rpc(
            id,
            `{"resultType":"complete","tools":[${[...ODD, INEXACT].join(',')},{"name":"good","inputSchema":{"type":"object"}}]}`,
          )
        : `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":{"toString":1}}}`,
    ),
    tells: hostile((method, _, { id, headers, response }) => {
      if (method === 'tools/list') return listing([tool('error'), tool('refuses'), tool('page')]);
      const name = headers['mcp-name'];
      if (name === 'error')
        return JSON.stringify({
          jsonrpc: '2.0',
          id,
          error: { code: -32000, message: `no ${headers.authorization}`, data: { headers } },
        });
      response.writeHead(name === 'refuses' ? 401 : 500, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          error: { code: name === 'refuses' ? -32001 : 'x', message: `bad: ${headers.authorization}` },
        }),
      );
      return null;
    }),
    lists: hostile((_, __, { headers, response }) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`I got ${headers.authorization}`);
      return null;
    }),
    challenges: hostile((method, _, { id, response }) => {
      if (method === 'tools/list') return listing([tool('call')]);
      response.writeHead(401, { 'content-type': 'application/json', 'www-authenticate': 'Bearer scope="a"' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32001, message: 'Unauthorized' } }));
      return null;
    }),
  };
  const upstreams: Record<string, object> = { early: { url: early.url, refresh: 1 } };
  for (const [name, answer] of Object.entries(servers)) {
    const server = await startHostile(answer);
    started.push(server);
    const settings =
      name === 'challenges' ? { forward_authorization: true } : { headers: { authorization: 'env://ATTACKED_KEY' } };
    upstreams[name] = { url: server.url, refresh: 1, timeout: 5, ...settings };
  }
  const document = { openapi: '3.1.0', info: { title: 'Proxy', version: '1' }, paths: {} };
  const artifact = await compileSpec(document, [], [], {}, { mcp: { upstreams } as never });
  gw = await startGateway(artifact, { env: { ATTACKED_KEY: KEY } });
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await early?.close();
  for (const server of started) server.close();
});

async function names(): Promise<string[]> {
  const { body } = await post(gw.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, await openSession(gw.url));
  return ((body?.result?.['tools'] ?? []) as { name: string }[]).map(({ name }) => name);
}

async function call(name: string, more: Readonly<Record<string, string>> = {}) {
  await eventually(async () => expect(await names()).toContain(name));
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } };
  return post(gw.url, message, { ...(await openSession(gw.url)), ...more });
}

describe('calls of one client to an upstream with sessions', () => {
  const wait = (session: Record<string, string>, id: number, as: string) =>
    post(
      gw.url,
      { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'early_wait', arguments: { as } } },
      session,
    );

  it('get their own answers, in whatever order these come', async () => {
    await eventually(async () => expect(await names()).toContain('early_wait'));
    const session = await openSession(gw.url);
    const answers = [wait(session, 1, 'a'), wait(session, 2, 'b')];
    await eventually(() => expect([...waits.keys()].sort()).toEqual(['a', 'b']));
    waits.get('b')?.end();
    expect(await answers[1]).toMatchObject({ body: { id: 2, result: text('b') } });
    waits.get('a')?.end();
    expect(await answers[0]).toMatchObject({ body: { id: 1, result: text('a') } });
  });

  it('are cancelled one by one', async () => {
    const session = await openSession(gw.url);
    const answers = [wait(session, 1, 'c'), wait(session, 2, 'd')];
    await eventually(() => expect(waits.has('c') && waits.has('d')).toBe(true));
    await post(gw.url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, session);
    await answers[0];
    await eventually(() => expect(waits.get('c')?.signal.aborted).toBe(true));
    expect(waits.get('d')?.signal.aborted).toBe(false);
    waits.get('d')?.end();
    expect(await answers[1]).toMatchObject({ body: { id: 2, result: text('d') } });
  });
});

describe('definitions', () => {
  it('with names that are no texts are held back, and nothing else', async () => {
    await eventually(async () => expect(await names()).toContain('odd_good'));
    expect(await call('odd_good')).toMatchObject({ status: 200, body: { error: { code: -32000 } } });
  });

  it('with numbers in any form are offered as they are written', async () => {
    await eventually(async () => expect(await names()).toContain('odd_inexact'));
    const listed = await fetch(`${gw.url}/__gw/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...(await openSession(gw.url)) },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });
    expect(await listed.text()).toContain('"minimum":0.0,"maximum":1e3,"default":12345678901234567890');
  });
});

describe('credentials of the gateway that an upstream repeats', () => {
  it.each(['tells_error', 'tells_refuses', 'tells_page'])('do not reach clients: %s', async (name) => {
    const answer = JSON.stringify(await call(name));
    expect(answer).not.toContain('s3cr3t');
    expect(answer).toMatch(/no \[redacted\]|refuses the gateway's credentials|gave no answer of the protocol/);
  });

  it('do not reach the log', async () => {
    const { cause } = await gw.logged(({ mcp_upstream, cause: why }) => mcp_upstream === 'lists' && why !== undefined);
    expect(cause).toContain('I got [redacted]');
    expect(JSON.stringify(gw.log)).not.toContain('s3cr3t');
  });
});

it('a challenge reaches whoever is challenged, also beside an error of the protocol', async () => {
  const { status, headers, body } = await call('challenges_call', { authorization: 'Bearer of-the-client' });
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer scope="a"']);
  expect(JSON.stringify(body)).not.toContain('of-the-client');
});
