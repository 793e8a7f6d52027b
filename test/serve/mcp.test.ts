/** MCP in the revisions with sessions, through a real `gw serve` (docs/mcp.md). */
import { request } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { type Gateway, startGateway, withGateway } from './gateway.ts';
import { openSession, post, toolsProject } from './mcp-project.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const PNG = Buffer.from('iVBORw0KGgo=', 'base64');

let upstream: Upstream;
let gw: Gateway;
/** Answers of /slow, to be given by tests. */
const slow: (() => void)[] = [];

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    const { url = '' } = request;
    const answer = (type: string, body: string | Buffer, status = 200) => {
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    };
    if (url === '/books/1' && request.method === 'GET') answer('application/json', '{"id":1,"title":"Cosmos"}');
    else if (url === '/books/2') answer('application/json', '{"id":"two"}');
    else if (url === '/books/403') answer('application/json', '{"error":"not for you"}', 403);
    else if (url === '/books/1/cover') answer('image/png', PNG);
    else if (url === '/books/3/cover') answer('image/png', Buffer.alloc(2 << 20));
    else if (url === '/books') answer('application/json', '[{"id":1,"title":"Cosmos"}]');
    else if (url === '/mine') answer('text/plain', 'yours');
    else if (url === '/slow') slow.push(() => answer('text/plain', 'at last'));
    else if (request.method === 'PUT') answer('application/json', '{}');
    else answer('application/json', '{"error":"no such book"}', 404);
  });
  gw = await startGateway(await toolsProject(upstream.url));
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await upstream?.close();
});

async function connected(headers: Record<string, string> = {}) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${gw.url}/__gw/mcp`), { requestInit: { headers } });
  await client.connect(transport as never);
  return { client, transport };
}

const untilAsked = (before: number) => eventually(() => expect(slow.length).toBe(before + 1));
const lastSeen = () => upstream.seen[upstream.seen.length - 1];

describe('the official client', () => {
  it('opens a session, lists tools, and ends the session', async () => {
    const { client, transport } = await connected();
    expect(client.getServerVersion()).toEqual({ name: 'Books', version: '1.2.0' });
    expect(client.getInstructions()).toBe('Books of a small shop.');
    await client.ping();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['getBook', 'getCover', 'listBooks', 'listMine', 'putBook', 'slow']);
    expect(tools[0]).toMatchObject({
      title: 'One book',
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    });
    // Before 2026-07-28, only objects were structured.
    expect(tools[2]).not.toHaveProperty('outputSchema');
    await transport.terminateSession();
    await expect(client.ping()).rejects.toThrow();
    await client.close();
  });

  it('calls tools, and gets structured content that fits its schema', async () => {
    const { client } = await connected();
    await client.listTools();
    expect(await client.callTool({ name: 'getBook', arguments: { id: '1' } })).toMatchObject({
      content: [{ type: 'text', text: '{"id":1,"title":"Cosmos"}' }],
      structuredContent: { id: 1, title: 'Cosmos' },
    });
    expect(await client.callTool({ name: 'listBooks' })).not.toHaveProperty('structuredContent');
    await client.close();
  });

  it('is told of an answer that contradicts its description, and of errors', async () => {
    const { client } = await connected();
    await client.listTools();
    const call = async (id: string) => {
      const { isError, content } = await client.callTool({ name: 'getBook', arguments: { id } });
      return [isError, JSON.stringify(content)];
    };
    expect(await call('2')).toEqual([true, expect.stringContaining('do not repeat it')]);
    expect(await call('9')).toEqual([true, expect.stringContaining('HTTP 404 Not Found')]);
    // Of an upstream, not of the gateway's own authentication.
    expect(await call('403')).toEqual([true, expect.stringContaining('not for you')]);
    await client.close();
  });

  it('sees pictures, and is given a link to what is too large', async () => {
    const { client } = await connected();
    const cover = async (id: string) => (await client.callTool({ name: 'getCover', arguments: { id } })).content;
    expect(await cover('1')).toEqual([{ type: 'image', mimeType: 'image/png', data: PNG.toString('base64') }]);
    expect(await cover('3')).toEqual([
      { type: 'resource_link', name: 'getCover', mimeType: 'image/png', uri: `${gw.url}/books/3/cover` },
    ]);
    // What is cut was answered: no client has left.
    const metrics = await (await fetch(`${gw.admin}/metrics`)).text();
    expect(metrics).toMatch(/gw_requests_total\{[^}]*path="\/books\/\{id\}\/cover"[^}]*status="200"[^}]*\} 2/);
    expect(metrics).not.toMatch(/gw_requests_total\{[^}]*cover"[^}]*status="499"/);
    await client.close();
  });

  it('cancels a call, and the request to the upstream ends', async () => {
    const { client } = await connected();
    const before = slow.length;
    const abort = new AbortController();
    const called = client.callTool({ name: 'slow' }, undefined, { signal: abort.signal });
    await untilAsked(before);
    abort.abort('changed my mind');
    await expect(called).rejects.toThrow();
    const metrics = async () => (await fetch(`${gw.admin}/metrics`)).text();
    await eventually(async () =>
      expect(await metrics()).toMatch(/gw_requests_total\{[^}]*path="\/slow"[^}]*status="499"[^}]*\} 1/),
    );
    await client.close();
  });
});

describe('a call', () => {
  const call = async (name: string, args: unknown, headers: Record<string, string> = {}) => {
    const session = await openSession(gw.url);
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: args } };
    return post(gw.url, message, { ...session, ...headers });
  };

  it('is the request that HTTP would have made: path, query, headers, cookies, body', async () => {
    const args = { id: 'b?c#d', tags: ['x', 'y z'], 'x-reason': 'because', shelf: 'top', title: 'Cosmos' };
    const before = upstream.seen.length;
    const refused = await call('getBook', { id: '1/cover' });
    // What others may read as the path of another operation is refused here as it is in HTTP.
    expect([refused.body?.result?.isError, upstream.seen.length]).toEqual([true, before]);
    const { body } = await call('putBook', args, { cookie: 'own=1; shelf=other', 'x-request-id': 'r-1' });
    expect(body).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: expect.objectContaining({ _meta: { 'dev.gw/status': 200 } }),
    });
    expect(lastSeen()).toMatchObject({
      method: 'PUT',
      url: '/books/b%3Fc%23d?tags=x,y%20z',
      body: '{"title":"Cosmos"}',
    });
    expect(lastSeen()?.headers).toMatchObject({
      'x-reason': 'because',
      cookie: 'own=1; shelf=top',
      'x-request-id': 'r-1',
      'content-type': 'application/json',
    });
    expect(Object.keys(lastSeen()?.headers ?? {}).filter((name) => name.startsWith('mcp-'))).toEqual([]);
  });

  it('keeps the connection to the upstream for the next', async () => {
    const ports = new Set<number | undefined>();
    const counted = await startUpstream((request, response) => {
      ports.add(request.socket.remotePort);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '26' });
      response.end('{"id":1,"title":"Cosmos!"}');
    });
    await withGateway(await toolsProject(counted.url), [], async ({ url }) => {
      const session = await openSession(url);
      for (let i = 0; i < 5; i++) {
        const params = { name: 'getBook', arguments: { id: '1' } };
        const { body } = await post(url, { jsonrpc: '2.0', id: i, method: 'tools/call', params }, session);
        expect(body?.result).toMatchObject({ structuredContent: { title: 'Cosmos!' } });
      }
    });
    expect(ports.size).toBe(1);
    await counted.close();
  });

  it('has the numbers that the client has written, whatever their digits', async () => {
    const numbers = '{"id":9007199254740993,"tags":[12345678901234567890],"title":"x","price":1.00000000000000000001}';
    const message = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"putBook","arguments":${numbers}}}`;
    const { body } = await post(gw.url, message, await openSession(gw.url));
    expect(body?.result?.isError).toBeUndefined();
    expect(lastSeen()).toMatchObject({
      url: '/books/9007199254740993?tags=12345678901234567890',
      body: '{"title":"x","price":1.00000000000000000001}',
    });
  });

  it.each([
    ['a value that does not fit', { id: '1', title: '' }, 'body /title: must NOT have fewer than 1 characters'],
    [
      'a parameter that does not fit',
      { id: '1', title: 'x', tags: Array(9).fill('t') },
      'query tags: must NOT have more than 8',
    ],
    ['an argument that there is not', { id: '1', titel: 'x' }, 'There is no argument "titel": it takes id, tags'],
    ['no value of a path parameter', { title: 'x' }, 'Argument "id" is required.'],
    ['an empty path segment', { id: '', title: 'x' }, 'which is not one of /books/{id}'],
    ['a path that climbs', { id: '..', title: 'x' }, 'HTTP 400'],
    ['a path that climbs further', { id: '../../admin', title: 'x' }, 'HTTP 400'],
    [
      'a header after a header',
      { id: '1', title: 'x', 'x-reason': 'a\r\nx-auth-consumer: root' },
      'cannot have line breaks',
    ],
    ['a second cookie', { id: '1', title: 'x', shelf: 'a; admin=1' }, null],
    ['an object where text is expected', { id: { a: 1 }, title: 'x' }, null],
  ])('with %s is a result that says so, and no other request', async (_, args, told) => {
    const before = upstream.seen.length;
    const { status, body } = await call('putBook', args);
    expect(status).toBe(200);
    if (told === null) {
      expect(lastSeen()?.headers['x-auth-consumer']).toBeUndefined();
      expect(lastSeen()?.headers.cookie ?? '').not.toMatch(/;\s*admin=/);
      return;
    }
    expect(body?.result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining(told) }],
    });
    expect(upstream.seen.length).toBe(before);
  });

  it('without credentials is 401, otherwise it carries those of the caller alone', async () => {
    const refused = await call('listMine', {});
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBeTruthy();
    expect(refused.headers.get('content-type')).toBe('application/json');
    expect(refused.body).toMatchObject({
      id: 7,
      error: { message: expect.stringContaining('Send an API key in the header X-API-Key.'), data: { status: 401 } },
    });
    const { body } = await call('listMine', {}, { 'x-api-key': 'k-alice' });
    expect(body?.result?.content).toEqual([{ type: 'text', text: 'yours' }]);
    expect(lastSeen()?.headers['x-auth-consumer']).toBe('alice');
    expect((await call('listMine', {}, { 'x-auth-consumer': 'alice' })).status).toBe(401);
  });

  it('of a tool that there is not, or that is hidden, is an error of the protocol', async () => {
    for (const name of ['nope', 'deleteAll', '__proto__', 'constructor']) {
      expect((await call(name, {})).body).toMatchObject({ id: 7, error: { code: -32602 } });
    }
  });

  it('is counted as a request of its operation, and by tool', async () => {
    for (const args of [{ id: '1' }, { id: '9' }, {}]) await call('getBook', args);
    await call('listMine', {});
    const metrics = await (await fetch(`${gw.admin}/metrics`)).text();
    expect(metrics).toMatch(/gw_requests_total\{[^}]*method="GET"[^}]*path="\/books\/\{id\}"[^}]*status="200"[^}]*\}/);
    const of = (tool: string, outcome: string) =>
      expect.stringMatching(`gw_mcp_tool_calls_total\\{tool="${tool}",outcome="${outcome}"\\} [1-9]`);
    expect(metrics).toEqual(of('getBook', 'succeeded'));
    expect(metrics).toEqual(of('getBook', 'failed'));
    expect(metrics).toEqual(of('getBook', 'invalid'));
    expect(metrics).toEqual(of('listMine', 'refused'));
  });
});

describe('sessions', () => {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

  it('are needed for all but initialize, and end with DELETE', async () => {
    expect(await post(gw.url, ping)).toMatchObject({ status: 400, body: { id: 1, error: { code: -32600 } } });
    const session = await openSession(gw.url);
    expect(session['mcp-session-id']).toMatch(/^[\x21-\x7e]{20,}$/);
    expect(await post(gw.url, ping, session)).toMatchObject({
      status: 200,
      body: { jsonrpc: '2.0', id: 1, result: {} },
    });
    const remove = () => fetch(`${gw.url}/__gw/mcp`, { method: 'DELETE', headers: session });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect(await post(gw.url, ping, session)).toMatchObject({ status: 404 });
    const made = { 'mcp-session-id': crypto.randomUUID() };
    expect(await post(gw.url, ping, made)).toMatchObject({ status: 404 });
  });

  it('agree on a revision', async () => {
    const initialize = (protocolVersion: string) =>
      post(gw.url, {
        ...{ jsonrpc: '2.0', id: 'a', method: 'initialize' },
        params: { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      });
    expect((await initialize('2025-06-18')).body?.result?.protocolVersion).toBe('2025-06-18');
    expect((await initialize('2024-11-05')).body?.result?.protocolVersion).toBe('2025-11-25');
    const session = await openSession(gw.url);
    expect(await post(gw.url, ping, { ...session, 'mcp-protocol-version': '1999-01-01' })).toMatchObject({
      status: 400,
    });
  });

  it.each([{ 'mcp-method': 'tools/list' }, { 'mcp-method': 'tools/call', 'mcp-name': 'other' }])(
    'decide their revision: headers of a later one mean nothing in them: %j',
    async (more) => {
      const session = await openSession(gw.url);
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const answer = await post(gw.url, list, { ...session, ...more });
      expect(answer).toMatchObject({ status: 200, body: { id: 1, result: { tools: expect.any(Array) } } });
      expect(answer.body?.result).not.toHaveProperty('resultType');
    },
  );

  it('cancel all calls that they have given one id', async () => {
    const session = await openSession(gw.url);
    const before = slow.length;
    const message = { jsonrpc: '2.0', id: 6, method: 'tools/call', params: { name: 'slow' } };
    const calls = [post(gw.url, message, session), post(gw.url, message, session)];
    await eventually(() => expect(slow.length).toBe(before + 2));
    await post(gw.url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 6 } }, session);
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([202, 202]);
  });

  it('cannot cancel calls of each other', async () => {
    const [one, other] = [await openSession(gw.url), await openSession(gw.url)];
    const before = slow.length;
    const message = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'slow' } };
    const called = post(gw.url, message, one);
    await untilAsked(before);
    const cancel = (requestId: unknown) => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId },
    });
    expect((await post(gw.url, cancel(5), other)).status).toBe(202);
    expect((await post(gw.url, cancel('5'), one)).status).toBe(202);
    slow.at(-1)?.();
    expect((await called).body?.result?.content).toEqual([{ type: 'text', text: 'at last' }]);
  });
});

it('sessions are those of all workers', async () => {
  const fleet = await startGateway(await toolsProject(upstream.url), { args: ['--workers', '2'] });
  const sessions = await Promise.all(Array.from({ length: 8 }, () => openSession(fleet.url)));
  // Each on a connection of its own, which any of the workers takes.
  const asked = sessions.flatMap((session) =>
    [1, 2, 3].map((id) => post(fleet.url, { jsonrpc: '2.0', id, method: 'ping' }, { ...session, connection: 'close' })),
  );
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  const [first] = sessions;
  await fetch(`${fleet.url}/__gw/mcp`, { method: 'DELETE', headers: { ...first } });
  const ended = await Promise.all(
    [1, 2, 3, 4].map((id) => post(fleet.url, { jsonrpc: '2.0', id, method: 'ping' }, { ...first })),
  );
  expect(ended.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect(await fleet.stop()).toBe(0);
});

describe('messages that are none', () => {
  const tools = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'tools/list' });
  let session: Record<string, string>;
  beforeAll(async () => {
    session = await openSession(gw.url);
  });

  it.each([
    ['no JSON', '{', 400, -32700],
    ['a member twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32700],
    ['nested without end', '['.repeat(200_000), 400, -32700],
    ['a batch', [tools(1), tools(2)], 400, -32600],
    ['no version', { id: 1, method: 'ping' }, 400, -32600],
    ['an id of null', tools(null), 400, -32600],
    ['a fraction for an id', tools(1.5), 400, -32600],
    ['an object for an id', tools({}), 400, -32600],
    ['an id without end', tools('x'.repeat(300)), 400, -32600],
    ['params in a list', { ...tools(1), params: [] }, 200, -32602],
    ['a method that there is not', { ...tools(1), method: 'resources/list' }, 200, -32601],
    ['a cursor of others', { ...tools(1), params: { cursor: '../..' } }, 200, -32602],
  ])('%s', async (_, message, status, code) => {
    expect(await post(gw.url, message, session)).toMatchObject({ status, body: { jsonrpc: '2.0', error: { code } } });
  });

  it.each([0, -1, '', 'a"b', Number.MAX_SAFE_INTEGER])('are not those with the id %j', async (id) => {
    expect((await post(gw.url, tools(id), session)).body?.id).toBe(id);
  });

  it('of more than a body may have are refused, and so are other types, methods and pages of others', async () => {
    const large = { ...tools(1), params: { x: 'x'.repeat(10 << 20) } };
    expect((await post(gw.url, large, session).catch(() => ({ status: 400 }))).status).toBe(400);
    expect((await post(gw.url, tools(1), { ...session, 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(gw.url, tools(1), { ...session, accept: 'text/html' })).status).toBe(406);
    expect((await post(gw.url, tools(1), { ...session, origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(gw.url, tools(1), { ...session, origin: 'http://localhost:3000' })).status).toBe(200);
    const get = await fetch(`${gw.url}/__gw/mcp`, { headers: session });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, DELETE']);
  });

  it('of a page that has bound a name of its own to the address of the gateway are refused', async () => {
    const { port } = new URL(gw.url);
    const asked = (host: string, origin: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { ...session, 'content-type': 'application/json', accept: 'application/json', host, origin };
        const sent = request(`${gw.url}/__gw/mcp`, { method: 'POST', headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        sent.on('error', reject).end(JSON.stringify(tools(1)));
      });
    expect(await asked(`rebound.example:${port}`, `http://rebound.example:${port}`)).toBe(403);
    expect(await asked(`rebound.example:${port}`, `http://localhost:${port}`)).toBe(403);
    expect(await asked(`localhost:${port}`, `http://rebound.example:${port}`)).toBe(403);
    expect(await asked(`localhost:${port}`, `http://localhost:${port}`)).not.toBe(403);
  });
});
