/** Prompts, resources, completion and log levels of upstream MCP servers of both eras (docs/mcp.md#upstream-prompts). */
import { Client as LaterClient, StreamableHTTPClientTransport as LaterTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startFixtureServer } from '../mcp-conformance/fixture-server.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { openSession, post } from './mcp-project.ts';
import { ANY_OBJECT, type McpServer, startMcpServer } from './mcp-servers.ts';

let early: McpServer;
let late: McpServer;
let own: McpServer;
let gw: Gateway;

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

beforeAll(async () => {
  early = await startFixtureServer('sessions');
  late = await startFixtureServer('stateless');
  own = await startMcpServer(
    'stateless',
    [{ definition: { name: 'one', inputSchema: ANY_OBJECT }, call: () => text('one') }],
    {
      methods: {
        'prompts/list': () => ({ prompts: [{ name: 'hidden' }] }),
        'resources/list': () => ({
          resources: [
            { uri: 'own://shown', name: 'shown' },
            { uri: 'own://hidden', name: 'hidden' },
            { uri: 'no uri', name: 'bad' },
          ],
        }),
        'resources/templates/list': () => ({ resourceTemplates: [] }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: `read ${uri}` }] }),
      },
    },
  );
  const upstreams = {
    early: { url: early.url },
    late: { url: late.url },
    own: { url: own.url, allow: ['one'], resources: ['own://shown'] },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Proxy', version: '1' },
    paths: { '/a': { get: { responses: { 200: { description: 'x' } }, 'x-gw-dispatch': { name: 'mock' } } } },
  };
  gw = await startGateway(await compileSpec(document, ['mock'], [], {}, { mcp: { upstreams } }));
  await eventually(async () => {
    const listed = JSON.stringify((await ask('tools/list', {})).body);
    for (const name of ['early_', 'late_', 'own_one']) expect(listed).toContain(name);
  });
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await Promise.all([early?.close(), late?.close(), own?.close()]);
});

async function ask(method: string, params: object, headers?: Record<string, string>) {
  return post(gw.url, { jsonrpc: '2.0', id: 1, method, params }, headers ?? (await openSession(gw.url)));
}

describe.each(['sessions', 'stateless'] as const)('a client of the era %s', (era) => {
  let client: Client | LaterClient;
  beforeAll(async () => {
    const url = new URL(`${gw.url}/__gw/mcp`);
    if (era === 'sessions') {
      client = new Client({ name: 'test', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(url) as never);
    } else {
      client = new LaterClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
      await client.connect(new LaterTransport(url));
    }
  });
  afterAll(() => client?.close());

  it('lists prompts under prefixes, and gets them from their upstream', async () => {
    const { prompts } = await client.listPrompts();
    const names = prompts.map(({ name }) => name);
    expect(names).toContain('early_test_simple_prompt');
    expect(names).toContain('late_test_prompt_with_arguments');
    expect(names).not.toContain('own_hidden');
    for (const upstream of ['early', 'late']) {
      const got = await client.getPrompt({
        name: `${upstream}_test_prompt_with_arguments`,
        arguments: { arg1: 'a', arg2: 'b' },
      });
      expect(got.messages[0]).toMatchObject({ content: { text: "Prompt with arguments: arg1='a', arg2='b'" } });
    }
    await expect(client.getPrompt({ name: 'early_nothing' })).rejects.toThrow('Unknown prompt: early_nothing');
    await expect(client.getPrompt({ name: 'own_hidden' })).rejects.toThrow('Unknown prompt');
  });

  it('lists resources by URI, and reads them and what fits a template', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['own://shown', 'test://static-binary', 'test://static-text']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'test://template/{id}/data' }]);
    expect(await client.readResource({ uri: 'test://static-text' })).toMatchObject({
      contents: [{ text: 'This is the content of the static text resource.' }],
    });
    expect(await client.readResource({ uri: 'test://template/7/data' })).toMatchObject({
      contents: [{ uri: 'test://template/7/data' }],
    });
    expect(await client.readResource({ uri: 'own://shown' })).toMatchObject({
      contents: [{ text: 'read own://shown' }],
    });
    await expect(client.readResource({ uri: 'own://hidden' })).rejects.toThrow('Resource not found');
  });

  it('gets completions of prompts and of resources', async () => {
    for (const upstream of ['early', 'late']) {
      const ref = { type: 'ref/prompt', name: `${upstream}_test_prompt_with_arguments` } as const;
      const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: 'p' } });
      expect(completion.values).toEqual(['paris']);
    }
    const ref = { type: 'ref/resource', uri: 'test://template/{id}/data' } as const;
    expect(await client.complete({ ref, argument: { name: 'id', value: '1' } })).toMatchObject({
      completion: { total: 1 },
    });
  });
});

it('what is not valid is said, and costs nothing else', async () => {
  const line = await gw.logged(({ entry }) => String(entry).includes('no uri'));
  expect(line).toMatchObject({ mcp_upstream: 'own', entry: 'resources: no uri', why: 'its "uri" is not valid' });
});

it('a resource that two upstreams have is read at the first, and the log says so', async () => {
  const line = await gw.logged(({ tool }) => tool === 'test://static-text');
  expect(line).toMatchObject({ mcp_upstream: 'late', why: 'upstream "early" has its name' });
});

it('the level of log messages of a session is that of its upstreams, before their first call and after it', async () => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gw.url}/__gw/mcp`)) as never);
  const logged: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data));
  const log = async (upstream: string) => {
    logged.length = 0;
    await client.callTool({ name: `${upstream}_test_tool_with_logging`, arguments: {} });
    return logged.length;
  };
  await client.setLoggingLevel('error');
  expect(await log('early')).toBe(0);
  await client.setLoggingLevel('debug');
  await eventually(async () => expect(await log('early')).toBe(3));
  expect(await ask('logging/setLevel', { level: 'loud' })).toMatchObject({ body: { error: { code: -32602 } } });
  await client.close();
});

it('what an upstream asks its client for goes to clients that can answer, and to others as an error', async () => {
  const client = new LaterClient(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: {} } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }) as never);
  await client.connect(new LaterTransport(new URL(`${gw.url}/__gw/mcp`)));
  const name = 'late_test_input_required_result_elicitation';
  expect(await client.callTool({ name, arguments: {} })).toMatchObject({ content: [{ text: 'Hello, Ada!' }] });
  await client.close();
  expect((await ask('tools/call', { name, arguments: {} })).body).toMatchObject({
    error: { code: -32021, message: expect.stringContaining('capabilit') },
  });
});
