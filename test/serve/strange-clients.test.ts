/**
 * Clients that are no provider's own and not the protocol's own, before a real `gw serve`: they send and read what the
 * official ones do not (docs/ai-clients.md#strange-clients, docs/mcp.md#clients).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientRig, SHOP_KEY, startClientRig } from '../ai/clients/gateway-of-clients.ts';
import { CALLS, SCHEMA, TEXT, TOOLS } from '../ai/clients/official-client.ts';
import { type McpClientRig, startMcpClientRig } from '../mcp-clients/gateway-of-clients.ts';
import { NO_STRANGE_PYTHON, runPython, STRANGE_PYTHON } from '../python/python.ts';
import { openSession, post } from './mcp-project.ts';

const SCRIPTS = join(import.meta.dirname, '../strange-clients');
const PROXY = join(import.meta.dirname, '../../node_modules/mcp-remote/dist/proxy.js');

describe('clients of models', () => {
  const PROTOCOLS = ['provider_chat', 'provider_messages'] as const;
  const CASES = ['whole', 'streamed', 'tools', 'streamed tools', 'errors', 'errors of streams'];
  const CLIENTS = [
    ...['langchain-openai', 'langchain-anthropic', 'litellm chat', 'litellm messages'],
    ...['pydantic-ai chat', 'pydantic-ai messages'],
  ];
  let rig: ClientRig;
  beforeAll(async () => {
    rig = await startClientRig();
  });
  afterAll(async () => expect(await rig?.close()).toBe(0));

  it.skipIf(NO_STRANGE_PYTHON)(
    'get answers, streams, calls of tools and errors of both protocols of providers',
    async () => {
      const endpoints = Object.fromEntries(PROTOCOLS.map((name) => [name, { url: rig.urlOf(name), key: SHOP_KEY }]));
      const asked = { endpoints, text: TEXT, tools: TOOLS, calls: CALLS, schema: SCHEMA };
      const told = await runPython<object>(join(SCRIPTS, 'ai_clients.py'), asked, STRANGE_PYTHON);
      const all = Object.fromEntries(PROTOCOLS.map((name) => [name, CASES]));
      expect(told).toEqual(Object.fromEntries(CLIENTS.map((name) => [name, all])));
    },
  );
});

interface ListedTools {
  readonly tools: readonly { readonly name: string }[];
  readonly nextCursor?: string | undefined;
}

async function allPages(list: (params: { cursor?: string }) => Promise<ListedTools>): Promise<string[]> {
  const names: string[] = [];
  let params: { cursor?: string } | null = {};
  while (params !== null) {
    const { tools, nextCursor }: ListedTools = await list(params);
    names.push(...tools.map(({ name }) => name));
    params = nextCursor === undefined ? null : { cursor: nextCursor };
  }
  return names;
}

/** Names of all tools, as the endpoint lists them. */
async function allTools({ gw }: McpClientRig): Promise<string[]> {
  const session = await openSession(gw.url);
  return allPages(async (params) => {
    const { body } = await post(gw.url, { jsonrpc: '2.0', id: 1, method: 'tools/list', params }, session);
    return { tools: [], ...body?.result };
  });
}

describe('clients of MCP', () => {
  let rig: McpClientRig;
  const kept = mkdtempSync(join(tmpdir(), 'gw-mcp-remote-'));
  beforeAll(async () => {
    rig = await startMcpClientRig();
  });
  afterAll(async () => {
    expect(await rig?.close()).toBe(0);
    rmSync(kept, { recursive: true });
  });

  it.skipIf(NO_STRANGE_PYTHON)('list all pages, call, and show what went wrong', async () => {
    const asked = { url: rig.url, tools: (await allTools(rig)).length };
    const told = await runPython<object>(join(SCRIPTS, 'mcp_clients.py'), asked, STRANGE_PYTHON);
    const cases = ['initialize', 'lists by pages', 'calls', 'errors', 'refusals'];
    expect(told).toEqual({
      'fastmcp, legacy': cases,
      'fastmcp, auto': cases,
      'pydantic-ai': ['lists by pages', 'calls', 'agents', 'errors'],
    });
  });

  it('mcp-remote leads a client of standard input and output to all tools, their answers and their errors', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const env = { ...getDefaultEnvironment(), MCP_REMOTE_CONFIG_DIR: kept };
    const args = [PROXY, rig.url, '--transport', 'http-only'];
    const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' });
    await client.connect(transport);
    expect(client.getServerVersion()).toMatchObject({ name: 'Shop' });
    const names = await allPages(async (cursor) => client.listTools(cursor));
    expect(names).toEqual(await allTools(rig));
    expect(names.length).toBeGreaterThan(100);
    expect(await client.callTool({ name: 'book' })).toMatchObject({ structuredContent: { title: 'Cosmos' } });
    expect(await client.callTool({ name: 'gone' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('HTTP 404') }],
    });
    await expect(client.callTool({ name: 'nothing' })).rejects.toThrow('Unknown tool: nothing');
    await client.close();
  });
});
