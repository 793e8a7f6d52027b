/** Three tools in place of many (docs/mcp.md#search), through a real `gw serve`. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from './gateway.ts';
import { openSession, post, toolsProject } from './mcp-project.ts';
import { startUpstream, type Upstream } from './upstream.ts';

let upstream: Upstream;
let gw: Gateway;

beforeAll(async () => {
  upstream = await startUpstream((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"id":1,"title":"Cosmos"}');
  });
  gw = await startGateway(await toolsProject(upstream.url, { search: 5 }));
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await upstream?.close();
});

describe('the official client', () => {
  it.each(['legacy', { pin: '2026-07-28' }] as const)(
    'in mode %j finds, describes and calls the tools of operations',
    async (mode) => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${gw.url}/__gw/mcp`)));
      const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['call_tool', 'describe_tool', 'search_tools']);
      const { structuredContent } = await call('search_tools', { query: 'show me one book', limit: 2 });
      expect(structuredContent).toMatchObject({ tools: [{ name: 'getBook', title: 'One book' }, {}] });
      expect((await call('describe_tool', { name: 'getBook' })).structuredContent).toMatchObject({
        name: 'getBook',
        inputSchema: { required: ['id'] },
      });
      const called = await call('call_tool', { name: 'getBook', arguments: { id: '1' } });
      expect(called.structuredContent).toEqual({ id: 1, title: 'Cosmos' });
      await client.close();
    },
  );
});

describe('a call', () => {
  const call = async (name: string, args: unknown) => {
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: args } };
    return post(gw.url, message, await openSession(gw.url));
  };

  it.each([
    ['search_tools', {}, '"query" must be a text'],
    ['search_tools', { query: 'x'.repeat(401) }, '"query" must be a text'],
    ['search_tools', { query: 'book', limit: 1000 }, '"limit" must be'],
    ['describe_tool', { name: 'nothing' }, 'There is no tool "nothing"'],
    ['call_tool', { name: 'nothing' }, 'There is no tool "nothing"'],
    ['call_tool', { name: 'call_tool', arguments: { name: 'getBook' } }, 'There is no tool "call_tool"'],
    ['call_tool', { name: 'getBook', arguments: [] }, 'must be a text, and'],
    ['call_tool', { name: 'getBook', arguments: { id: '..' } }, 'HTTP 400'],
  ])('of %s with %j is a result that says what is wrong', async (name, args, told) => {
    const before = upstream.seen.length;
    const { body } = await call(name, args);
    expect(body?.result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining(told) }],
    });
    expect(upstream.seen.length).toBe(before);
  });

  it('of a secured operation needs its credentials', async () => {
    expect((await call('call_tool', { name: 'listMine' })).status).toBe(401);
  });

  it('by its own name is served, too', async () => {
    const { body } = await call('getBook', { id: '1' });
    expect(body?.result).toMatchObject({ structuredContent: { id: 1 } });
  });
});
