/**
 * Clients that do not read what they asked for: what waits for them counts as memory of responses, of which the client
 * that holds most gives way (docs/decisions.md#responses-that-wait).
 */
import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { h2 } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Bytes of the budget, and of one answer. */
const [MOST, LONG] = [4_000_000, 200_000];
const STREAMS = 100;
const text = 'a'.repeat(LONG);
const responses = { 200: { description: 'OK' } };

function document(url: string) {
  const proxied = { responses, 'x-gw-dispatch': { name: 'http-upstream', config: { url } } };
  const checked = {
    responses: { 200: { description: 'OK', content: { 'application/json': { schema: { type: 'object' } } } } },
    'x-gw-validate-response': 'enforce',
    'x-gw-dispatch': { name: 'http-upstream', config: { url } },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Unread', version: '1' },
    'x-gw-mcp': { enabled: true },
    paths: {
      '/made': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: text } } } },
      '/short': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } } } },
      '/endless': { get: { operationId: 'endless', ...proxied } },
      '/checked': { get: { operationId: 'checked', ...checked } },
      ...Object.fromEntries(
        Array.from({ length: 100 }, (_, i) => [
          `/listed/${i}`,
          { get: { operationId: `listed${i}`, description: 'a'.repeat(1000), ...proxied } },
        ]),
      ),
    },
  };
}

const MCP = { ':path': '/__gw/mcp', ':method': 'POST', 'content-type': 'application/json', accept: 'application/json' };
const REVISION = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const asked = (method: string, name?: string) => ({
  headers: {
    ...MCP,
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  },
  body: JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method },
    params: { _meta: meta, ...(name === undefined ? {} : { name, arguments: {} }) },
  }),
});

const ANSWERS: Record<string, { readonly headers: Record<string, string>; readonly body?: string }> = {
  'of a plugin': { headers: { ':path': '/made' } },
  'that stream from an upstream': { headers: { ':path': '/endless' } },
  'that were validated': { headers: { ':path': '/checked' } },
  'of tools': asked('tools/call', 'checked'),
  'that list tools': asked('tools/list'),
};

describe('responses that wait for their client', () => {
  let upstream: Upstream;
  let gw: Gateway;
  const sessions: ClientHttp2Session[] = [];

  beforeAll(async () => {
    upstream = await startUpstream((request, response) => {
      if (request.url === '/endless') response.end(Buffer.alloc(8 << 20));
      else response.setHeader('content-type', 'application/json').end(JSON.stringify({ text }));
    });
    gw = await startGateway(await compileSpec(document(upstream.url), ['http-upstream', 'mock']), {
      args: ['--max-held-response-bytes', String(MOST)],
    });
  });
  afterAll(async () => {
    for (const each of sessions) each.destroy();
    expect(await gw?.stop()).toBe(0);
    await upstream?.close();
  });

  /** `window`: bytes of an answer that the client takes; all of it by default. */
  function session(localAddress: string, window = 65_535): ClientHttp2Session {
    const port = Number(new URL(gw.url).port);
    const createConnection = () => connectTcp({ host: '127.0.0.1', port, localAddress });
    const opened = connect(gw.url, { createConnection, settings: { initialWindowSize: window } });
    sessions.push(opened.on('error', () => {}));
    return opened;
  }

  /** Streams that were refused or reset, and those that wait. */
  function unread(on: ClientHttp2Session, count: number, { headers, body }: (typeof ANSWERS)[string]) {
    const seen = { answered: 0, ended: 0 };
    const isShort = headers[':path'] === '/short';
    for (let i = 0; i < count; i++) {
      const stream = on.request(headers, { endStream: body === undefined });
      let state: keyof typeof seen | null = null;
      const becomes = (next: keyof typeof seen) => {
        if (state !== null) seen[state]--;
        state = next;
        seen[state]++;
      };
      stream.on('response', ({ ':status': status, 'content-length': length }) => {
        // A tool reports a refusal as its result, which is short.
        const isRefusal = status !== 200 || (Number(length ?? LONG) < LONG / 2 && !isShort);
        becomes(isRefusal ? 'ended' : 'answered');
      });
      stream.on('error', () => becomes('ended'));
      if (body !== undefined) stream.end(body);
    }
    return seen;
  }

  it.each(Object.keys(ANSWERS))('%s hold no more than the budget, and others get theirs', async (kind) => {
    const answer = ANSWERS[kind] ?? { headers: {} };
    const hostile = session('127.0.0.3', 0);
    const seen = unread(hostile, STREAMS, answer);
    await eventually(() => expect(seen.answered + seen.ended).toBe(STREAMS));
    await eventually(() => expect(seen.answered * 100_000).toBeLessThanOrEqual(MOST));
    expect(seen.answered).toBeGreaterThan(0);
    const other = session('127.0.0.2');
    for (const path of ['/made', '/checked']) {
      const { status, body } = await h2(other, { ':path': path });
      expect([path, status, body.includes(text)]).toEqual([path, 200, true]);
    }
    hostile.destroy();
    other.close();
  });

  it('and are short count, too, once they have waited', async () => {
    const hostile = Array.from({ length: 5 }, () => session('127.0.0.3', 0));
    const seen = hostile.map((each) => unread(each, STREAMS, { headers: { ':path': '/short' } }));
    await eventually(() => {
      const waiting = seen.reduce((sum, { answered }) => sum + answered, 0);
      const ended = seen.reduce((sum, each) => sum + each.ended, 0);
      expect(waiting + ended).toBe(hostile.length * STREAMS);
      expect(waiting).toBeLessThan(MOST / 10_000);
    });
    for (const each of hostile) each.destroy();
  });

  it('are held no longer than until they are read', async () => {
    const client = session('127.0.0.4');
    for (let i = 0; i < 3; i++) {
      const answers = await Promise.all(
        Array.from({ length: 15 }, () => h2(client, { ':path': '/made' }).then(({ body }) => body.length)),
      );
      expect(answers).toEqual(answers.map(() => LONG));
    }
    client.close();
  });
});
