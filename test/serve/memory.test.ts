/** A gateway with the memory that a pod has by default, and clients that make it hold as much as they can. */
import { createServer, type Server } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { memoryGroup } from '../memory-group.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

const GIB = 1 << 30;
const AT_ONCE = 25;
const responses = {};
const group = memoryGroup(GIB);

describe.runIf(group !== null)('a gateway with 1 GiB of memory', () => {
  let upstream: Server;
  let gw: Gateway;
  const open = new Set<{ destroy(): unknown }>();
  const LONG_ENOUGH = JSON.stringify({ text: 'a'.repeat(900_000) });
  const LONG = Buffer.from(JSON.stringify({ text: 'a'.repeat(10 << 20) }));

  beforeAll(async () => {
    upstream = createServer((request, response) => {
      const type = { 'content-type': 'application/json' };
      if (request.url === '/long') response.writeHead(200, type).end(LONG);
      if (request.url === '/stream') response.end(LONG);
      if (request.url === '/tool') response.writeHead(200, type).end(LONG_ENOUGH);
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const proxied = { name: 'http-upstream', config: { url, timeout: 600 } };
    const mocked = { name: 'mock', config: { body: 'ok' } };
    const json = (schema: object) => ({ content: { 'application/json': { schema } } });
    const object = { type: 'object', properties: { text: { type: 'string' } } };
    const artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Memory', version: '1' },
        'x-gw-mcp': { enabled: true },
        paths: {
          '/fast': { get: { responses, 'x-gw-dispatch': mocked } },
          '/body': { post: { requestBody: json(object), responses, 'x-gw-dispatch': mocked } },
          '/held': { get: { responses, 'x-gw-dispatch': proxied } },
          '/long': {
            get: {
              responses: { 200: { description: 'A long one', ...json(object) } },
              'x-gw-validate-response': 'enforce',
              'x-gw-dispatch': proxied,
            },
          },
          '/stream': { get: { responses, 'x-gw-dispatch': proxied } },
          '/made': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'a'.repeat(200_000) } } } },
          '/tool': { get: { operationId: 'tool', responses, 'x-gw-dispatch': proxied } },
          '/waits': { get: { operationId: 'waits', responses, 'x-gw-dispatch': proxied } },
        },
      },
      ['mock', 'http-upstream'],
    );
    gw = await startGateway(artifact, { within: group?.within ?? [], isCrowded: true });
  });
  afterAll(async () => {
    for (const each of open) each.destroy();
    upstream?.closeAllConnections();
    upstream?.close();
    try {
      await gw?.stop();
    } finally {
      group?.remove();
    }
  });

  const port = () => Number(new URL(gw.url).port);

  /** A client that sends this and reads nothing. Resolves when all was taken, or the gateway takes no more of it. */
  function sent(bytes: Buffer): Promise<Socket> {
    const socket = connect({ port: port(), host: '127.0.0.1' });
    open.add(socket);
    socket.pause();
    return new Promise((resolve) => {
      socket.on('error', () => resolve(socket)).on('close', () => resolve(socket));
      socket.write(bytes, () => resolve(socket));
    });
  }

  /** So many of them, some at a time: how long others wait is another test's. */
  async function times(count: number, bytes: Buffer): Promise<void> {
    for (let i = 0; i < count; i += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, () => sent(bytes)));
    }
  }

  /** Requests on connections of HTTP/2 that take no byte of an answer. Resolves when each has an answer, or none. */
  async function unread(connections: number, headers: object, body?: string): Promise<void> {
    for (let i = 0; i < connections; i++) {
      const session = connectHttp2(gw.url, { settings: { initialWindowSize: 0 } }).on('error', () => {});
      open.add(session);
      const answers = Array.from({ length: 100 }, () => {
        const stream = session.request({ ...headers }, { endStream: body === undefined }).on('error', () => {});
        if (body !== undefined) stream.end(body);
        return new Promise((resolve) => stream.on('response', resolve).on('close', resolve));
      });
      await Promise.all(answers);
    }
  }

  const MCP = { ':path': '/__gw/mcp', ':method': 'POST', 'content-type': 'application/json' };
  const call = (name: string, more: object = {}) => ({
    headers: { ...MCP, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: {
        ...{ name, arguments: {} },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
          ...more,
        },
      },
    }),
  });

  const ATTACKS: Readonly<Record<string, () => Promise<unknown>>> = {
    'bodies that do not end': () => {
      const head = 'POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n';
      return times(500, Buffer.from(`${head}{"text":"${'a'.repeat(890_000)}`));
    },
    'bodies in chunks of one byte': () => {
      const head =
        'POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
      return times(10, Buffer.from(head + '1\r\na\r\n'.repeat(500_000)));
    },
    'pipelined requests': () => times(50, Buffer.from('GET /fast HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(6000))),
    'responses that nobody reads': () => times(60, Buffer.from('GET /long HTTP/1.1\r\nHost: a\r\n\r\n')),
    'answers of tools that nobody reads': () => unread(3, call('tool').headers, call('tool').body),
    'answers of a plugin that nobody reads': () => unread(10, { ':path': '/made' }),
    'streams that nobody reads': () => unread(10, { ':path': '/stream' }),
    'calls of tools with many values, which wait': async () => {
      const { headers, body } = call('waits', { pad: Array.from({ length: 150_000 }, () => ({})) });
      const session = connectHttp2(gw.url).on('error', () => {});
      open.add(session);
      let ended = 0;
      for (let i = 0; i < 80; i++) {
        const stream = session.request(headers, { endStream: false }).on('error', () => {});
        stream.on('close', () => ended++).end(body);
        stream.resume();
      }
      // Those that find no room are refused at once; the others wait for their upstream.
      await eventually(() => expect(ended).toBeGreaterThan(40));
    },
    'heads that do not end': () =>
      times(500, Buffer.from(`GET /fast HTTP/1.1\r\n${`A: ${'a'.repeat(8000)}\r\n`.repeat(95)}`)),
    'large heads of requests that wait': async () => {
      const fields = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`x-${i}`, 'a'.repeat(7500)]));
      for (let i = 0; i < 15; i++) {
        const session = connectHttp2(gw.url).on('error', () => {});
        open.add(session);
        const streams = Array.from({ length: 100 }, () => session.request({ ':path': '/held', ...fields }));
        for (const each of streams) each.on('error', () => {}).resume();
        await new Promise((resolve) => session.ping(resolve));
      }
    },
  };

  it.each(Object.keys(ATTACKS))('serves others, and is not ended, beside %s', async (attack) => {
    await ATTACKS[attack]?.();
    const answer = await fetch(`${gw.url}/fast`);
    expect([answer.status, await answer.text(), group?.killed()]).toEqual([200, 'ok', 0]);
  });

  it('has kept below the limit, with all of that at the same time', () => {
    expect(group?.peak()).toBeLessThan(GIB);
  });
});
