/** The access log of calls of tools: which, by whom, how they ended, and a hash of their arguments (docs/mcp.md#call-log). */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, refusedStart, startGateway, withGateway } from './gateway.ts';
import { openSession, post, toolsProject } from './mcp-project.ts';
import { ANY_OBJECT, type McpServer, startMcpServer } from './mcp-servers.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const KEY = 'k'.repeat(32);
const HMAC = /^[0-9a-f]{64}$/;

let upstream: Upstream;
let server: McpServer;
let artifact: Uint8Array;
let gw: Gateway;
let requests = 0;

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    if (request.url === '/slow') return;
    response.writeHead(request.url === '/books/9' ? 404 : 200, { 'content-type': 'application/json' });
    response.end('{"id":1,"title":"Cosmos"}');
  });
  artifact = await toolsProject(upstream.url);
  gw = await startGateway(artifact, { env: { GW_AUDIT_KEY: KEY } });
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await Promise.all([upstream?.close(), server?.close()]);
});

interface Call {
  readonly tool: string;
  readonly args?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The line of the MCP request. */
async function logged(to: Gateway, { tool, args = {}, headers = {}, signal }: Call) {
  const id = `call-${++requests}`;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'agent "x"', version: '7' },
  };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args, _meta } };
  const own = {
    ...{ 'content-type': 'application/json', accept: 'application/json' },
    ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': tool, 'x-request-id': id },
  };
  await fetch(`${to.url}/__gw/mcp`, {
    method: 'POST',
    headers: { ...own, ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  }).catch(() => null);
  return to.logged(({ msg, request_id, path }) => msg === 'request' && request_id === id && path === '/__gw/mcp');
}

it.each([
  ['succeeded', { tool: 'getBook', args: { id: '1' } }],
  ['failed', { tool: 'getBook', args: { id: '9' } }],
  ['invalid', { tool: 'getBook', args: { id: '' } }],
  ['refused', { tool: 'listMine' }],
])('has the tool, its client and the outcome: %s', async (tool_outcome, call) => {
  expect(await logged(gw, call)).toMatchObject({
    ...{ tool: call.tool, tool_outcome, agent: 'agent "x"/7', status: tool_outcome === 'refused' ? 401 : 200 },
    arguments_hmac: expect.stringMatching(HMAC),
  });
});

it('has who calls where a plugin knows it, and not who the client says', async () => {
  const known = await logged(gw, { tool: 'listMine', headers: { 'x-api-key': 'k-alice' } });
  expect(known).toMatchObject({ tool: 'listMine', consumer: 'alice' });
  const spoofed = await logged(gw, { tool: 'listBooks', headers: { 'x-auth-consumer': 'root' } });
  expect(spoofed).not.toHaveProperty('consumer');
});

it('has calls of what is no tool, and those whose client left', async () => {
  const unknown = await logged(gw, { tool: 'x'.repeat(500), args: { a: 1 } });
  expect(unknown).toMatchObject({ tool: 'x'.repeat(128), tool_outcome: 'unknown' });
  const leaving = new AbortController();
  const before = upstream.seen.length;
  const line = logged(gw, { tool: 'slow', signal: leaving.signal });
  await eventually(() => expect(upstream.seen.length).toBe(before + 1));
  leaving.abort();
  expect(await line).toMatchObject({ tool: 'slow', tool_outcome: 'cancelled', status: 499 });
});

it('hashes arguments whatever the order of their members, and contains none', async () => {
  const secret = { id: '1', title: 'sesame-of-the-caller' };
  const line = await logged(gw, { tool: 'putBook', args: secret });
  const other = await logged(gw, { tool: 'putBook', args: { title: 'sesame-of-the-caller', id: '1' } });
  const expected = createHmac('sha256', KEY).update('{"id":"1","title":"sesame-of-the-caller"}').digest('hex');
  expect([line['arguments_hmac'], other['arguments_hmac']]).toEqual([expected, expected]);
  const all = JSON.stringify(gw.log);
  expect(all).not.toContain('sesame-of-the-caller');
  expect(all).not.toContain(KEY);
});

it('of clients with sessions has no agent, and of other requests nothing of tools', async () => {
  const headers = { ...(await openSession(gw.url)), 'x-request-id': 'of-session' };
  const params = { name: 'getBook', arguments: { id: '1' } };
  await post(gw.url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers);
  const line = await gw.logged(({ request_id, path }) => request_id === 'of-session' && path === '/__gw/mcp');
  expect(line).toMatchObject({ tool: 'getBook', tool_outcome: 'succeeded' });
  expect(line).not.toHaveProperty('agent');
  await post(gw.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { ...headers, 'x-request-id': 'a-list' });
  expect(await gw.logged(({ request_id }) => request_id === 'a-list')).not.toHaveProperty('tool');
});

it('has no hash without a key, and takes no key that could be tried out', async () => {
  await withGateway(artifact, [], async (other) => {
    const line = await logged(other, { tool: 'getBook', args: { id: '1' } });
    expect(line).toMatchObject({ tool: 'getBook', tool_outcome: 'succeeded' });
    expect(line).not.toHaveProperty('arguments_hmac');
  });
  const { code, stderr } = await refusedStart(['--artifact', 'any.gwa'], { GW_AUDIT_KEY: 'short' });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/GW_AUDIT_KEY has less than 32 characters/)]);
});

it('names the upstream whose tool it was, and in search mode the tool that was called through another', async () => {
  server = await startMcpServer('stateless', [
    { definition: { name: 'echo', inputSchema: ANY_OBJECT }, call: () => ({ content: [] }) },
  ]);
  const document = {
    ...{ openapi: '3.1.0', info: { title: 'Proxy', version: '1' }, 'x-gw-mcp': { enabled: true, search: true } },
    paths: { '/x': { get: { operationId: 'getX', 'x-gw-dispatch': { name: 'mock' } } } },
  };
  const mcp = { upstreams: { late: { url: server.url } } } as never;
  const bytes = await compileSpec(document, ['mock'], [], {}, { mcp });
  await withGateway(
    bytes,
    [],
    async (other) => {
      await eventually(async () => {
        const line = await logged(other, { tool: 'late_echo', args: { n: 1 } });
        expect(line).toMatchObject({ tool: 'late_echo', mcp_upstream: 'late', tool_outcome: 'succeeded' });
      });
      const direct = await logged(other, { tool: 'getX', args: {} });
      const through = await logged(other, { tool: 'call_tool', args: { name: 'getX', arguments: {} } });
      expect(through).toMatchObject({ tool: 'getX', tool_outcome: 'succeeded' });
      expect(through['arguments_hmac']).toBe(direct['arguments_hmac']);
    },
    { GW_AUDIT_KEY: KEY },
  );
});
