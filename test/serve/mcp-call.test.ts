/** `gw mcp call` and `gw mcp tools` with a gateway, an artifact, and other servers (docs/mcp.md#call). */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mcpCommand } from '../../gateway/src/cli/mcp/mcp.ts';
import { runCommand } from '../cli/captured-run.ts';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway, withGateway } from './gateway.ts';
import { toolsProject } from './mcp-project.ts';
import { ANY_OBJECT, startMcpServer, type McpServer as TestServer, type TestTool } from './mcp-servers.ts';
import { startUpstream, type Upstream } from './upstream.ts';

let upstream: Upstream;
let gw: Gateway;
let folder: string;
const others: Server[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-mcp-call-'));
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
  await rm(folder, { recursive: true, force: true });
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
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/HTTP 401, .*in the header X-API-Key\.\nWWW-Authenticate: /),
    ]);
    expect((await call(gw.url, 'listMine', '-H', 'x-api-key: k-alice')).code).toBe(0);
  });

  it.each([
    [['--arguments', '[1]'], 'give a JSON object'],
    [['--arguments', '{'], 'give a JSON object'],
    [['--arguments', '@nowhere.json'], 'nowhere.json'],
    [['--arg', 'idd=1'], 'there is no argument "idd": did you mean id?'],
    [['--arg', 'id=1', '--arg', 'id=2'], 'argument "id" takes one value'],
  ])('takes no arguments such as %j', async (args, told) => {
    const { code, stdout, stderr } = await call(gw.url, 'getBook', ...args);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(told)]);
  });

  it.each(['localhost:8080', 'ftp://localhost', 'nowhere.gwa'])('is not found at %s', async (target) => {
    await expect(call(target, 'getBook')).rejects.toThrow('Give a URL');
  });

  it('reads arguments from the command line, by the schema of the tool, a file and standard input', async () => {
    const book = '{"id":1,"title":"Cosmos"}\n';
    expect(await call(gw.url, 'getBook', '--arg', 'id=1')).toMatchObject({ code: 0, stdout: book, stderr: '' });
    const file = join(folder, 'arguments.json');
    await writeFile(file, '{"id":"1"}');
    expect(await call(gw.url, 'getBook', '--arguments', `@${file}`)).toMatchObject({ code: 0, stdout: book });
    const piped = await runCommand(mcpCommand, ['call', gw.url, 'getBook', '--arguments', '-'], {}, '{"id":"1"}');
    expect(piped).toMatchObject({ code: 0, stdout: book });
    const both = await call(gw.url, 'getBook', '--arguments', '{"id":"9"}', '--arg', 'id=1');
    expect(both).toMatchObject({ code: 0, stdout: book });
  });

  it('that has no such tool it offers those that may have been meant', async () => {
    const { code, stderr } = await call(gw.url, 'getbok');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/Unknown tool: getbok\nDid you mean getBook\?\n$/)]);
  });

  it('lists its tools', async () => {
    const { code, stdout } = await runCommand(mcpCommand, ['tools', gw.url]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^TOOL +OPERATION +TOKENS +TITLE\n/);
    expect(stdout).toMatch(/\ngetBook +- +\d+ +One book\n/);
    expect(stdout).toMatch(/\n6 tools, about \d+ tokens\n$/);
    const refused = await runCommand(mcpCommand, ['tools', `${gw.url}/nowhere`]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('HTTP 404')]);
  });
});

describe('with an artifact', () => {
  const artifact = async (bytes: Uint8Array): Promise<string> => {
    const file = join(folder, 'api.gwa');
    await writeFile(file, bytes);
    return file;
  };

  it('serves it for the call', async () => {
    const file = await artifact(await toolsProject(upstream.url));
    const book = '{"id":1,"title":"Cosmos"}\n';
    expect(await call(file, 'getBook', '--arg', 'id=1')).toEqual({ code: 0, stdout: book, stderr: '' });
    expect((await call(file, 'getBook', '--arg', 'id=9')).code).toBe(3);
  });

  it('in search mode it knows types all the same', async () => {
    const file = await artifact(await toolsProject(upstream.url, { search: true }));
    const { code, stderr } = await call(file, 'getBook', '--arg', 'idd=1');
    expect([code, stderr]).toEqual([1, expect.stringContaining('did you mean id?')]);
    expect((await call(file, 'getBook', '--arg', 'id=1')).code).toBe(0);
  });

  it('waits for tools of its upstreams, and repeats in headers what they want there', async () => {
    const schema = { type: 'object', properties: { text: { type: 'string', 'x-mcp-header': 'Text' } } };
    const server = await startMcpServer('stateless', [
      {
        definition: { name: 'echo', inputSchema: schema },
        call: ({ text }, { headers }) => ({
          content: [{ type: 'text', text: `${text} ${headers['mcp-param-text']}` }],
        }),
      },
    ]);
    const document = {
      openapi: '3.1.0',
      info: { title: 'Proxy', version: '1' },
      paths: { '/x': { get: { 'x-gw-dispatch': { name: 'mock' } } } },
    };
    const mcp = { upstreams: { late: { url: server.url } } } as never;
    const bytes = await compileSpec(document, ['mock'], [], {}, { mcp });
    const file = await artifact(bytes);
    expect(await call(file, 'late_echo', '--arg', 'text=a')).toMatchObject({ code: 0, stdout: 'a a\n' });
    await withGateway(bytes, [], async ({ url }) => {
      await eventually(async () => {
        const called = await call(url, 'late_echo', '--arguments', '{"text":"a"}');
        expect(called).toMatchObject({ code: 0, stdout: 'a a\n' });
      });
    });
    await server.close();
  });

  it('that cannot be read, or has no tools, it says so', async () => {
    const file = await artifact(Buffer.from('nonsense'));
    expect(await call(file, 'getBook')).toMatchObject({ code: 1, stderr: expect.stringContaining(file) });
    await artifact(await toolsProject(upstream.url, { enabled: false }));
    expect(await call(file, 'getBook')).toMatchObject({ code: 1, stderr: expect.stringContaining('x-gw-mcp') });
  });
});

describe.each(['sessions', 'stateless'] as const)('with a server of the era of %s', (era) => {
  let server: TestServer;
  beforeAll(async () => {
    const tool = (name: string, run: TestTool['call']): TestTool => ({
      definition: { name, inputSchema: ANY_OBJECT },
      call: run,
    });
    server = await startMcpServer(era, [
      tool('steps', async (_, { meta, notify }) => {
        const { progressToken } = meta;
        await notify('notifications/message', { level: 'debug', data: 'detail' });
        await notify('notifications/message', { level: 'warning', logger: 'disk', data: 'nearly\u001b full' });
        await notify('notifications/message', { level: 'error', data: { full: true } });
        for (const message of ['half', undefined]) {
          await notify('notifications/progress', { progressToken, progress: message ? 1 : 2, total: 2, message });
        }
        return { content: [{ type: 'text', text: 'done' }] };
      }),
      tool('asks', () => ({ resultType: 'input_required', inputRequests: {}, requestState: 'x' })),
    ]);
  });
  afterAll(() => server?.close());

  it.each([
    ['info', ['warning disk: nearly\ufffd full', 'error: {"full":true}']],
    ['error', ['error: {"full":true}']],
    ['off', []],
  ])('it shows progress, and what is logged from %s on', async (level, logged) => {
    expect(await call(server.url, 'steps', '--logs', level)).toEqual({
      code: 0,
      stdout: 'done\n',
      stderr: [...logged, 'progress 1/2: half', 'progress 2/2', ''].join('\n'),
    });
  });

  if (era === 'stateless') {
    it('it says that a tool needs input, and is no success', async () => {
      const { code, stderr } = await call(server.url, 'asks');
      expect([code, stderr]).toEqual([1, expect.stringContaining('needs input from its client (input_required)')]);
    });
  }
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
