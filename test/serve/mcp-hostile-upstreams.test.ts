/** Upstream MCP servers that are down, silent or hostile cost their own tools only (docs/mcp.md#upstream-tools). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { type Hostile, type HostileServer, hostile, listing, startHostile, tool } from './mcp-hostile.ts';
import { openSession, post, toolNames } from './mcp-project.ts';
import { ANY_OBJECT, type McpServer, startMcpServer } from './mcp-servers.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const deep = '['.repeat(100_000) + ']'.repeat(100_000);
let pages = 0;

const SERVERS: Readonly<Record<string, Hostile>> = {
  silent: () => null,
  nonsense: () => '<html>no</html>',
  'mute-list': hostile((method) => (method === 'tools/list' ? null : {})),
  huge: hostile(() => listing([tool('huge', { description: 'x'.repeat(10 << 20) })])),
  crowded: hostile(() => listing(Array.from({ length: 1001 }, (_, i) => tool(`tool${i}`)))),
  endless: hostile(() => listing([tool('one')], { nextCursor: String(pages++) })),
  'no-list': hostile(() => ({ resultType: 'complete', tools: 'all' })),
  deep: hostile(
    (_, __, { id }) => `{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"deep","inputSchema":${deep}}]}}`,
  ),
  mixed: hostile((method) =>
    method === 'tools/list'
      ? listing([
          tool('good'),
          tool('bad name'),
          tool('no-object', { inputSchema: { type: 'array' } }),
          tool('no-schema', { inputSchema: { type: 'object', properties: { a: { type: 'nothing' } } } }),
          tool('no-output', { outputSchema: { type: 'object', required: 'x' } }),
          tool('no-text', { description: 7 }),
          tool('no-hint', { annotations: { readOnlyHint: 'yes' } }),
          tool('large', { description: 'x'.repeat(70_000) }),
          tool('task', { execution: { taskSupport: 'required' } }),
          tool('no-header', {
            inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } },
          }),
          tool('hidden-header', {
            inputSchema: { type: 'object', allOf: [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }] },
          }),
          tool('good'),
        ])
      : { resultType: 'complete', content: 'none' },
  ),
};

let http: Upstream;
let good: McpServer;
let gw: Gateway;
const started: HostileServer[] = [];

beforeAll(async () => {
  http = await startUpstream();
  good = await startMcpServer('sessions', [
    {
      definition: { name: 'hello', inputSchema: ANY_OBJECT },
      call: () => ({ content: [{ type: 'text', text: 'hi' }] }),
    },
  ]);
  const upstreams: Record<string, object> = {
    good: { url: good.url, refresh: 1 },
    down: { url: 'http://127.0.0.1:1/mcp', refresh: 1 },
    forbidden: { url: 'http://169.254.169.254/mcp', refresh: 1 },
  };
  for (const [name, answer] of Object.entries(SERVERS)) {
    const server = await startHostile(answer);
    started.push(server);
    upstreams[name] = { url: server.url, timeout: 1, refresh: 1 };
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Proxy', version: '1' },
    paths: {
      '/own': {
        get: {
          operationId: 'own',
          responses: { 200: { description: 'x' } },
          'x-gw-dispatch': { name: 'http-upstream', config: { url: http.url } },
        },
      },
    },
  };
  gw = await startGateway(await compileSpec(document, ['http-upstream'], [], {}, { mcp: { upstreams } as never }));
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await Promise.all([http?.close(), good?.close()]);
  for (const server of started) server.close();
});

const names = () => toolNames(gw.url);

async function call(name: string) {
  return post(gw.url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }, await openSession(gw.url));
}

const causeOf = async (upstream: string) =>
  (await gw.logged(({ mcp_upstream, cause }) => mcp_upstream === upstream && cause !== undefined))['cause'];

it('costs its own tools, and none of others', async () => {
  await eventually(async () => expect(await names()).toEqual(['good_hello', 'mixed_good']));
  expect(await call('good_hello')).toMatchObject({ body: { result: { content: [{ text: 'hi' }] } } });
});

describe('the log says why', () => {
  it.each([
    ['silent', /given up|no answer|aborted|nothing came/],
    ['nonsense', /HTTP 200: <html>no/],
    ['huge', /longer than 4194304 bytes/],
    ['crowded', /more than 1000 tools/],
    ['endless', /more than 100 pages/],
    ['no-list', /not a list of tools/],
    ['deep', /HTTP 200/],
    ['down', /ECONNREFUSED|connect/],
    ['forbidden', /not permitted|refused|egress|private/i],
  ])('%s', async (upstream, why) => {
    expect(await causeOf(upstream)).toMatch(why);
  });

  it('each tool that is held back', async () => {
    const held = () => gw.log.filter(({ mcp_upstream, why }) => mcp_upstream === 'mixed' && why !== undefined);
    await eventually(() => expect(held().length).toBe(11));
    expect(Object.fromEntries(held().map(({ tool: name, why }) => [name, why]))).toMatchObject({
      'bad name': expect.stringContaining('characters'),
      'no-schema': expect.stringContaining('its input schema is not valid'),
      'no-output': expect.stringContaining('its output schema is not valid'),
      task: 'it can be called as a task only',
      good: 'it is listed twice',
    });
  });
});

it('a call is answered where the upstream gives no result', async () => {
  await eventually(async () => expect(await names()).toContain('mixed_good'));
  expect(await call('mixed_good')).toMatchObject({
    body: { result: { isError: true, content: [{ text: 'MCP upstream "mixed" gave a result without content.' }] } },
  });
});

it('tools stay listed while their upstream is away, and are called again when it is back', async () => {
  const session = await openSession(gw.url);
  const hello = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'good_hello' } };
  expect(await post(gw.url, hello, session)).toMatchObject({ body: { result: { content: [{ text: 'hi' }] } } });
  const { port } = new URL(good.url);
  await good.close();
  expect(await post(gw.url, hello, session)).toMatchObject({
    body: { result: { isError: true, content: [{ text: 'MCP upstream "good" cannot be reached.' }] } },
  });
  expect(await names()).toContain('good_hello');
  // The same address, and none of its sessions.
  good = await startMcpServer('sessions', good.tools, { port: Number(port) });
  expect(await post(gw.url, hello, session)).toMatchObject({ body: { result: { content: [{ text: 'hi' }] } } });
});
