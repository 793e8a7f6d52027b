/** `gw mcp call` with a gateway, and with servers that speak no revision but those with sessions (docs/mcp.md). */
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mcpCommand } from '../../gateway/src/cli/mcp.ts';
import { runCommand } from '../cli/captured-run.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { toolsProject } from './mcp-project.ts';
import { startUpstream, type Upstream } from './upstream.ts';

let upstream: Upstream;
let gw: Gateway;
const others: Server[] = [];

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    const found = request.url === '/books/1' || request.url === '/mine';
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(found ? '{"id":1,"title":"Cosmos"}' : '{"error":"no such book"}');
  });
  gw = await startGateway(await toolsProject(upstream.url));
});
afterEach(() => {
  for (const server of others.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await upstream?.close();
});

const call = (...args: readonly string[]) => runCommand(mcpCommand, ['call', ...args]);

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  others.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('with a gateway', () => {
  it('calls a tool, and writes what it answers', async () => {
    expect(await call(gw.url, 'getBook', '--arguments', '{"id":"1"}')).toEqual({
      code: 0,
      stdout: '{"id":1,"title":"Cosmos"}\n',
      stderr: '',
    });
    const { stdout } = await call(gw.url, 'getBook', '--arguments', '{"id":"1"}', '--format', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      resultType: 'complete',
      structuredContent: { id: 1, title: 'Cosmos' },
      _meta: { 'dev.gw/status': 200 },
    });
  });

  it('exits with 3 where the tool failed, and 1 where the gateway refuses', async () => {
    const failed = await call(gw.url, 'getBook', '--arguments', '{"id":"9"}');
    expect([failed.code, failed.stdout]).toEqual([3, expect.stringContaining('no such book')]);
    const unknown = await call(gw.url, 'nothing');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('-32602: Unknown tool: nothing')]);
    const refused = await call(gw.url, 'listMine');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/HTTP 401: .*\nWWW-Authenticate: /)]);
    expect((await call(gw.url, 'listMine', '-H', 'x-api-key: k-alice')).code).toBe(0);
  });

  it.each([
    [['--arguments', '[1]'], 'Give a JSON object'],
    [['--arguments', '{'], 'Give a JSON object'],
  ])('takes no arguments such as %j', async (args, told) => {
    await expect(call(gw.url, 'getBook', ...args)).rejects.toThrow(told);
    await expect(call('localhost:8080', 'getBook')).rejects.toThrow('Give a URL');
  });
});

describe('with another server', () => {
  it('of a revision with sessions it opens one, and ends it', async () => {
    const methods: string[] = [];
    const server = new McpServer({ name: 'old', version: '1' });
    server.registerTool('hello', {}, () => ({ content: [{ type: 'text', text: 'good day' }] }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
    await server.connect(transport as never);
    const url = await listening((request, response) => {
      methods.push(request.method ?? '');
      void transport.handleRequest(request, response);
    });
    expect(await call(`${url}/mcp`, 'hello')).toEqual({ code: 0, stdout: 'good day\n', stderr: '' });
    expect(methods).toEqual(['POST', 'POST', 'POST', 'POST', 'DELETE']);
    await server.close();
  });

  it.each([
    ['nonsense', 'text/plain', 'nonsense', 'HTTP 200: nonsense'],
    ['a stream without an answer', 'text/event-stream', 'data: {"id":7}\n\n', 'HTTP 200'],
    ['what a terminal would obey', 'text/plain', '\u001b[2Jgone', 'HTTP 200: \ufffd[2Jgone'],
  ])('that answers %s it says so', async (_what, type, body, told) => {
    const url = await listening((_, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    });
    const { code, stderr } = await call(url, 'hello');
    expect([code, stderr]).toEqual([1, expect.stringContaining(told)]);
  });

  it('that answers without an end, or not at all, it gives up', async () => {
    const endless = await listening((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(1 << 16)));
      };
      response.on('drain', more);
      more();
    });
    expect((await call(endless, 'hello')).stderr).toContain('is longer than');
    const silent = await listening(() => {});
    expect((await call(silent, 'hello', '--timeout', '0.2')).stderr).toContain('timeout');
  });

  it('that leads elsewhere it does not follow with credentials', async () => {
    const asked: unknown[] = [];
    const other = await listening((request, response) => {
      asked.push(request.headers.authorization);
      response.end();
    });
    const url = await listening((_, response) => {
      response.writeHead(307, { location: other }).end();
    });
    const { code, stderr } = await call(url, 'hello', '-H', 'authorization: Bearer t');
    expect([code, asked, stderr]).toEqual([1, [], expect.stringContaining('cannot be asked')]);
  });
});
