/** MCP of revision 2026-07-28, without sessions, through a real `gw serve` (docs/mcp.md#revisions). */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { openSession, post, toolsProject } from './mcp-project.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const REVISION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const dir = mkdtempSync(join(tmpdir(), 'gw-mcp-'));
const file = join(dir, 'api.gwa');
let upstream: Upstream;
let gw: Gateway;

async function serve(settings: object): Promise<void> {
  writeFileSync(`${file}.new`, await toolsProject(upstream.url, settings));
  renameSync(`${file}.new`, file);
}

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    response.writeHead(request.url === '/books' ? 200 : 404, { 'content-type': 'application/json' });
    response.end('[{"id":1,"title":"Cosmos"}]');
  });
  await serve({});
  gw = await startGateway(null, { args: ['--artifact', file] });
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await upstream?.close();
  rmSync(dir, { recursive: true, force: true });
});

async function connected(mode: 'auto' | 'legacy' | { pin: string }) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gw.url}/__gw/mcp`)));
  return client;
}

describe('the official client', () => {
  it.each([
    ['auto', REVISION],
    [{ pin: REVISION }, REVISION],
    ['legacy', '2025-11-25'],
  ] as const)('that negotiates %j speaks %s, lists and calls', async (mode, revision) => {
    const client = await connected(mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('listBooks');
    const { content, structuredContent } = await client.callTool({ name: 'listBooks', arguments: {} });
    expect(content).toEqual([{ type: 'text', text: '[{"id":1,"title":"Cosmos"}]' }]);
    // Any JSON is structured content since then.
    expect(structuredContent).toEqual(revision === REVISION ? [{ id: 1, title: 'Cosmos' }] : undefined);
    await client.close();
  });

  it('is told that tools have changed, and of no change that is none', async () => {
    const client = await connected({ pin: REVISION });
    let told = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      told++;
    });
    await client.listen({ toolsListChanged: true });
    await serve({ include: { paths: ['/books'] } });
    await eventually(() => expect(told).toBe(1));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['listBooks']);
    await serve({});
    await eventually(() => expect(told).toBe(2));
    await client.close();
  });
});

describe('a request', () => {
  const message = (method: string, params: object = {}) => ({
    ...{ jsonrpc: '2.0', id: 1, method },
    params: { ...params, _meta: META },
  });
  const headers = (method: string, more: Record<string, string> = {}) => {
    return { 'mcp-protocol-version': REVISION, 'mcp-method': method, ...more };
  };
  const send = (method: string, params: object = {}, more: Record<string, string> = {}) =>
    post(gw.url, message(method, params), headers(method, more));

  it('is answered with what the revision asks for', async () => {
    const { status, body } = await send('server/discover');
    expect(status).toBe(200);
    expect(body?.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [REVISION],
      capabilities: { tools: { listChanged: true } },
      instructions: 'Books of a small shop.',
      ttlMs: expect.any(Number),
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'Books', version: '1.2.0' } },
    });
    expect((await send('tools/list')).body?.result).toMatchObject({ resultType: 'complete', cacheScope: 'public' });
  });

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/list', 'nope'])('for %s is 404', async (method) => {
    expect(await send(method)).toMatchObject({ status: 404, body: { id: 1, error: { code: -32601 } } });
  });

  it('needs headers that say what the body says', async () => {
    const call = message('tools/call', { name: 'listBooks' });
    const named = headers('tools/call', { 'mcp-name': 'listBooks' });
    expect((await post(gw.url, call, named)).status).toBe(200);
    const base64 = `=?base64?${Buffer.from('listBooks').toString('base64')}?=`;
    expect((await post(gw.url, call, { ...named, 'mcp-name': base64 })).status).toBe(200);
    const wrong: Record<string, string>[] = [
      headers('tools/call'),
      { ...named, 'mcp-name': 'getBook' },
      { ...named, 'mcp-name': 'LISTBOOKS' },
      { ...named, 'mcp-method': 'tools/list' },
      { ...named, 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-name': 'listBooks', 'mcp-method': 'tools/call' },
      { 'mcp-name': 'listBooks', 'mcp-protocol-version': REVISION },
    ];
    for (const each of wrong) {
      expect(await post(gw.url, call, each)).toMatchObject({ status: 400, body: { id: 1, error: { code: -32020 } } });
    }
  });

  it('of one era with what belongs to the other is refused, or belongs to the era that its body says', async () => {
    const session = await openSession(gw.url);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    // Headers say that `_meta` must be there.
    expect(await post(gw.url, list, headers('tools/list'))).toMatchObject({
      status: 400,
      body: { error: { code: -32602 } },
    });
    expect(await post(gw.url, list, { ...session, 'mcp-protocol-version': REVISION })).toMatchObject({ status: 400 });
    // Sessions are ignored, and none is made.
    const answer = await send('tools/list', {}, { 'mcp-session-id': session['mcp-session-id'] ?? '' });
    expect([answer.status, answer.headers.get('mcp-session-id')]).toEqual([200, null]);
    expect((await post(gw.url, list, session)).body?.result).not.toHaveProperty('resultType');
  });

  it('of a revision that is not spoken is told which is', async () => {
    const params = { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '2027-01-01' } };
    const asked = { jsonrpc: '2.0', id: 1, method: 'tools/list', params };
    expect(await post(gw.url, asked, { ...headers('tools/list'), 'mcp-protocol-version': '2027-01-01' })).toMatchObject(
      {
        status: 400,
        body: { id: 1, error: { code: -32022, data: { supported: [REVISION], requested: '2027-01-01' } } },
      },
    );
  });

  it('without credentials is 401 before any stream begins', async () => {
    const { status, headers: sent, body } = await send('tools/call', { name: 'listMine' }, { 'mcp-name': 'listMine' });
    expect([status, sent.get('content-type')]).toEqual([401, 'application/json']);
    expect(body?.error?.message).toContain('Send an API key in the header X-API-Key.');
    expect(sent.get('www-authenticate')).toBeTruthy();
  });
});

it('a stream begins with what is subscribed to, names its request, and ends with a result when the gateway stops', async () => {
  const stopping = await startGateway(await toolsProject(upstream.url));
  const params = { notifications: { toolsListChanged: true, promptsListChanged: true }, _meta: META };
  const response = await fetch(`${stopping.url}/__gw/mcp`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': REVISION, 'mcp-method': 'subscriptions/listen' },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'listen', method: 'subscriptions/listen', params }),
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const stopped = stopping.stop();
  const events = (await response.text())
    .split('\n')
    .flatMap((line): { method?: string; params?: object; result?: object }[] => {
      return line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : [];
    });
  expect(await stopped).toBe(0);
  expect(events).toEqual([
    {
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true },
        _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen' },
      },
    },
    {
      jsonrpc: '2.0',
      id: 'listen',
      result: {
        resultType: 'complete',
        _meta: expect.objectContaining({ 'io.modelcontextprotocol/subscriptionId': 'listen' }),
      },
    },
  ]);
});
