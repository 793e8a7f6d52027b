/**
 * Clients that make a gateway hold headers, or read heads for nothing: others are served beside them
 * (docs/decisions.md#shared-limits).
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, withGateway } from './gateway.ts';
import { h2, raw } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const MIB = 1 << 20;
/** As many bytes as one entry of HPACK's table takes: each further use of it is one byte on the wire. */
const ENTRY = 'A'.repeat(3000);
const ENHANCE_YOUR_CALM = 11;
const responses = {};

function document(upstream: string) {
  const mock = { name: 'mock', config: { body: 'ok' } };
  return {
    openapi: '3.1.0',
    info: { title: 'Header memory', version: '1' },
    paths: {
      '/others': { get: { responses, 'x-gw-dispatch': mock } },
      '/held': { post: { responses, 'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } } } },
    },
  };
}

describe('headers in memory', () => {
  let upstream: Upstream;
  let artifact: Uint8Array;
  beforeAll(async () => {
    // It never answers: requests to it stay open.
    upstream = await startUpstream(() => {});
    artifact = await compileSpec(document(upstream.url), ['mock', 'http-upstream']);
  });
  afterAll(async () => {
    await upstream?.close();
  });

  const serving = (args: readonly string[], work: (gw: Gateway) => Promise<void>) => withGateway(artifact, args, work);

  function session(gw: Gateway, localAddress: string): ClientHttp2Session {
    const { port } = new URL(gw.url);
    const opened = connect(gw.url, {
      createConnection: () => connectTcp({ host: '127.0.0.1', port: Number(port), localAddress }),
      maxSendHeaderBlockLength: 4 * MIB,
    });
    return opened.on('error', () => {});
  }

  /** Opens a stream whose headers hold so many times the bytes of one entry. */
  function hold(on: ClientHttp2Session, times: number, more: Readonly<Record<string, string>> = {}): ClientHttp2Stream {
    const stream = on.request({ ':method': 'POST', ':path': '/held', accept: Array(times).fill(ENTRY), ...more });
    return stream.on('error', () => {}).resume();
  }

  async function figure(gw: Gateway, line: RegExp): Promise<number> {
    const text = await (await fetch(`${gw.admin}/metrics`)).text();
    const found = text.split('\n').filter((each) => line.test(each));
    return found.reduce((sum, each) => sum + Number(each.slice(each.lastIndexOf(' '))), 0);
  }
  const heldBytes = (gw: Gateway) => figure(gw, /^gw_held_header_bytes /);
  const answers = (gw: Gateway, path: string, status: number) =>
    figure(gw, new RegExp(`^gw_requests_total.*path="${path}".*status="${status}"`));

  function goneAway(on: ClientHttp2Session): Promise<number> {
    return new Promise((resolve) => on.once('goaway', (code: number) => resolve(code)));
  }

  it('are shared: the client that holds most gives way to others, and to itself', async () => {
    await serving(['--max-held-header-bytes', String(4 * MIB)], async (gw) => {
      const greedy = Array.from({ length: 5 }, () => session(gw, '127.0.0.1'));
      // 150 kB each: 28 fit.
      for (let i = 0; i < 50; i++) for (const each of greedy) if (i < 10) hold(each, 50);
      await eventually(async () => expect(await answers(gw, '/held', 429)).toBeGreaterThanOrEqual(22));
      expect(await heldBytes(gw)).toBeLessThanOrEqual(4 * MIB);
      const other = session(gw, '127.0.0.2');
      for (let i = 0; i < 5; i++) expect((await h2(other, { ':path': '/others', accept: ENTRY })).status).toBe(200);
      const rest = hold(other, 50);
      await eventually(async () => expect(await answers(gw, '/held', 429)).toBeGreaterThanOrEqual(23));
      expect(rest.closed).toBe(false);
      expect(await answers(gw, '/others', 429)).toBe(0);
      expect(await figure(gw, /^gw_shared_limit_yields_total\{limit="header-memory",yielded="ended"\}/)).toBe(
        await answers(gw, '/held', 429),
      );
      for (const each of [...greedy, other]) each.destroy();
      await eventually(async () => expect(await heldBytes(gw)).toBe(0));
    });
  });

  it('are shared over HTTP/1.1, too', async () => {
    await serving(['--max-held-header-bytes', '300000'], async (gw) => {
      const port = Number(new URL(gw.url).port);
      const head = `POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n${`x-a: ${'a'.repeat(5000)}\r\n`.repeat(20)}\r\n`;
      const greedy = Array.from({ length: 4 }, () => raw(port));
      for (const { socket } of greedy) socket.write(head);
      await eventually(async () => expect(await answers(gw, '/held', 429)).toBe(2));
      const other = session(gw, '127.0.0.2');
      expect((await h2(other, { ':path': '/others' })).status).toBe(200);
      hold(other, 35);
      await eventually(async () => expect(await answers(gw, '/held', 429)).toBe(3));
      for (const { socket } of greedy) socket.destroy();
      const ended = await Promise.all(greedy.map(({ all }) => all));
      expect(ended.filter((text) => text.startsWith('HTTP/1.1 429 ')).length).toBe(3);
      other.destroy();
    });
  });

  it('count while they arrive: heads without an end give way, and their connections end', async () => {
    await serving(['--max-held-header-bytes', String(2 * MIB)], async (gw) => {
      const port = Number(new URL(gw.url).port);
      const other = session(gw, '127.0.0.2');
      const greedy = Array.from({ length: 20 }, () => raw(port));
      for (const { socket } of greedy) {
        socket.write(`GET /others HTTP/1.1\r\nHost: a\r\n${`x-a: ${'a'.repeat(7_000)}\r\n`.repeat(60)}`);
      }
      await eventually(async () =>
        expect(greedy.filter(({ socket }) => socket.closed).length).toBeGreaterThanOrEqual(15),
      );
      expect((await h2(other, { ':path': '/others' })).status).toBe(200);
      const kept = greedy.filter(({ socket }) => !socket.closed);
      for (const { socket } of kept) socket.write('Connection: close\r\n\r\n');
      const statuses = (await Promise.all(kept.map(({ all }) => all))).map((text) => text.slice(9, 12));
      // Five have room; what is made whole counts as a request's, a little more than before.
      expect(statuses.filter((status) => status === '200').length).toBeGreaterThanOrEqual(3);
      other.destroy();
      await eventually(async () => expect(await heldBytes(gw)).toBe(0));
    });
  });

  it('count for the client behind a trusted proxy, whose connection stays', async () => {
    const args = ['--max-held-header-bytes', String(2 * MIB), '--trusted-proxies', '127.0.0.1'];
    await serving(args, async (gw) => {
      const proxy = session(gw, '127.0.0.1');
      const first = hold(proxy, 50, { 'x-forwarded-for': '192.0.2.2' });
      for (let i = 0; i < 60; i++) hold(proxy, 50, { 'x-forwarded-for': '192.0.2.1' });
      await eventually(async () => expect(await answers(gw, '/held', 429)).toBeGreaterThanOrEqual(47));
      const of = { ':path': '/others', 'x-forwarded-for': '192.0.2.3' };
      expect((await h2(proxy, of)).status).toBe(200);
      expect([first.closed, proxy.closed]).toEqual([false, false]);
      proxy.destroy();
    });
  });

  it('have a limit by request: as many as their number and size admit, or --max-header-bytes', async () => {
    const head = (count: number) =>
      `GET /others HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${`x-a: ${'a'.repeat(8000)}\r\n`.repeat(count)}\r\n`;
    const statusOf = async (gw: Gateway, text: string) => {
      const { socket, all } = raw(Number(new URL(gw.url).port));
      socket.write(text);
      return Number((await all).slice(9, 12));
    };
    await serving([], async (gw) => {
      expect(await statusOf(gw, head(98))).toBe(200);
    });
    await serving(['--max-header-bytes', '20000'], async (gw) => {
      expect(await statusOf(gw, head(2))).toBe(200);
      expect(await statusOf(gw, head(3))).toBe(431);
      const client = session(gw, '127.0.0.1');
      const answer = await h2(client, { ':path': '/others', accept: Array(7).fill(ENTRY) });
      expect(answer.status).toBe(431);
      expect(answer.body).toMatch(/headers together have 21\d\d\d bytes; the limit is 20000/);
      client.destroy();
    });
  });

  it.each([
    ['with more headers than are read', { 'x-a': Array(300).fill(ENTRY) }],
    ['with more headers than are admitted', { 'x-a': Array(120).fill('a') }],
    ['that are malformed', { ':authority': 'a.example', host: 'b.example' }],
  ])('end a connection whose streams are refused, %s', async (_, headers) => {
    await serving([], async (gw) => {
      const client = session(gw, '127.0.0.1');
      const code = goneAway(client);
      for (let i = 0; i < 250; i++) {
        if (client.closed || client.destroyed) break;
        client
          .request({ ':path': '/others', ...headers })
          .on('error', () => {})
          .resume();
      }
      expect(await code).toBe(ENHANCE_YOUR_CALM);
      const other = session(gw, '127.0.0.2');
      expect((await h2(other, { ':path': '/others' })).status).toBe(200);
      other.destroy();
    });
  });

  it('end no connection of a trusted proxy, whose streams are answered', async () => {
    await serving(['--max-header-bytes', '20000', '--trusted-proxies', '127.0.0.1'], async (gw) => {
      const proxy = session(gw, '127.0.0.1');
      for (let i = 0; i < 3; i++) {
        const statuses = await Promise.all(
          Array.from(
            { length: 90 },
            async () => (await h2(proxy, { ':path': '/others', accept: Array(7).fill(ENTRY) })).status,
          ),
        );
        expect(new Set(statuses)).toEqual(new Set([431]));
      }
      expect((await h2(proxy, { ':path': '/others' })).status).toBe(200);
      proxy.destroy();
    });
  });
});
