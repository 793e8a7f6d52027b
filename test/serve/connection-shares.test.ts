/** Clients that take all connections: others find a place beside them (docs/decisions.md#connection-shares). */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, withGateway } from './gateway.ts';
import { makeCertificate, OPENSSL } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const GREEDY = '127.0.0.9';
const OTHER = '127.0.0.2';
const PLACES = 20;
const responses = {};

interface Client {
  readonly socket: Socket;
  text: string;
  closed: boolean;
}

describe('connections', () => {
  let upstream: Upstream;
  let artifact: Uint8Array;
  const clients: Client[] = [];

  beforeAll(async () => {
    // It never answers.
    upstream = await startUpstream(() => {});
    artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Connections', version: '1' },
        paths: {
          '/fast': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } } } },
          '/held': { get: { responses, 'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } } } },
        },
      },
      ['mock', 'http-upstream'],
    );
  });
  afterAll(async () => {
    await upstream?.close();
  });

  const serving = (args: readonly string[], work: (gw: Gateway) => Promise<void>) =>
    withGateway(artifact, ['--max-connections', String(PLACES), ...args], async (gw) => {
      try {
        await work(gw);
      } finally {
        for (const { socket } of clients.splice(0)) socket.destroy();
      }
    });

  /** A connection that sends this and then nothing. */
  function open(gw: Gateway, localAddress: string, text = ''): Client {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(gw.url).port), localAddress });
    const client: Client = { socket, text: '', closed: false };
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        client.text += chunk;
      });
    socket.on('close', () => {
      client.closed = true;
    });
    if (text !== '') socket.write(text);
    clients.push(client);
    return client;
  }
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const isAnswered = ({ text }: Client) => text.startsWith('HTTP/1.1 200 ');
  const stillOpen = (of: readonly Client[]) => of.filter(({ closed }) => !closed);

  async function figure(gw: Gateway, name: string): Promise<number> {
    const text = await (await fetch(`${gw.admin}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.split(' ')[1] ?? 0);
  }
  const yields = (gw: Gateway, outcome: string) =>
    figure(gw, `gw_shared_limit_yields_total{limit="connections",yielded="${outcome}"}`);
  const active = (gw: Gateway) => figure(gw, 'gw_active_connections');

  it.each([
    ['one process', []],
    ['two workers', ['--workers', '2']],
  ])('that are silent or idle yield, those of who holds most: %s', async (_, args) => {
    await serving(args, async (gw) => {
      const held = open(gw, OTHER, get('/held'));
      await eventually(() => expect(upstream.seen.length).toBeGreaterThan(0));
      const greedy = Array.from({ length: 2 * PLACES }, (_, i) => open(gw, GREEDY, i % 2 ? get('/fast') : ''));
      await eventually(() => expect(stillOpen(greedy).length).toBeLessThan(PLACES));
      for (let i = 0; i < 5; i++) {
        const other = open(gw, OTHER, get('/fast'));
        await eventually(() => expect(isAnswered(other)).toBe(true));
      }
      expect(held.closed).toBe(false);
      expect(stillOpen(greedy).length).toBeGreaterThan(PLACES / 2);
      expect(await active(gw)).toBeLessThanOrEqual(PLACES);
      expect((await yields(gw, 'ended')) + (await yields(gw, 'refused'))).toBeGreaterThanOrEqual(PLACES);
      expect(await yields(gw, 'ended')).toBeGreaterThanOrEqual(4);
      await gw.logged(({ msg, limit }) => msg === 'a limit that clients share was reached' && limit === 'connections');
      await gw.logged(({ msg, client }) => msg.startsWith('one address holds more than 80 %') && client === GREEDY);
      for (const { socket } of clients) socket.destroy();
      await eventually(async () => expect(await active(gw)).toBe(0));
    });
  });

  it('with requests under way yield the one that came last, for a client below its share', async () => {
    await serving([], async (gw) => {
      const greedy = Array.from({ length: 2 * PLACES }, () => open(gw, GREEDY, get('/held')));
      const [first] = greedy;
      await eventually(() => expect(stillOpen(greedy).length).toBe(PLACES - 1));
      expect(await yields(gw, 'ended')).toBe(0);
      const others = Array.from({ length: 3 }, () => open(gw, OTHER, get('/held')));
      await eventually(() => expect(stillOpen(greedy).length).toBe(PLACES - others.length));
      expect(stillOpen(others).length).toBe(others.length);
      expect(first?.closed).toBe(false);
      const quick = open(gw, '127.0.0.3', get('/fast'));
      await eventually(() => expect(isAnswered(quick)).toBe(true));
      expect(stillOpen(others).length).toBe(others.length);
    });
  });

  it('of HTTP/2 that are idle yield with GOAWAY, and not those that have a stream', async () => {
    await serving([], async (gw) => {
      const port = Number(new URL(gw.url).port);
      const sessions = Array.from({ length: PLACES - 1 }, () => {
        const createConnection = () => connect({ host: '127.0.0.1', port, localAddress: GREEDY });
        return connectHttp2(gw.url, { createConnection }).on('error', () => {});
      });
      await Promise.all(sessions.map((each) => new Promise((resolve) => each.once('remoteSettings', resolve))));
      const [busy] = sessions;
      const before = upstream.seen.length;
      const stream = busy?.request({ ':path': '/held' }).on('error', () => {});
      await eventually(() => expect(upstream.seen.length).toBe(before + 1));
      const gone: number[] = [];
      for (const each of sessions) each.once('goaway', (code: number) => gone.push(code));
      const others = Array.from({ length: 5 }, () => open(gw, OTHER, get('/fast')));
      await eventually(() => expect(others.every(isAnswered)).toBe(true));
      await eventually(() => expect(gone).toEqual([0, 0, 0, 0]));
      expect([busy?.closed, stream?.closed]).toEqual([false, false]);
      for (const each of sessions) each.destroy();
    });
  });

  it.skipIf(!OPENSSL)('over TLS yield where they are idle, and not where a request is under way', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-shares-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const { cert, key } = makeCertificate(dir, 'gateway');
    await serving(['--tls-cert', cert, '--tls-key', key], async (gw) => {
      const secure = (localAddress: string, path: string) => {
        const client = open(gw, localAddress);
        const over = connectTls({ socket: client.socket, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
        over
          .on('error', () => {})
          .on('data', (chunk) => {
            client.text += chunk;
          });
        over.write(get(path));
        return client;
      };
      const before = upstream.seen.length;
      const busy = Array.from({ length: 10 }, () => secure(GREEDY, '/held'));
      await eventually(() => expect(upstream.seen.length).toBe(before + busy.length));
      const idle = Array.from({ length: 9 }, () => secure(GREEDY, '/fast'));
      await eventually(() => expect(idle.filter(({ text }) => text.includes('200 OK'))).toHaveLength(idle.length));
      const others = Array.from({ length: 5 }, () => secure(OTHER, '/fast'));
      await eventually(() => expect(others.filter(({ text }) => text.includes('200 OK'))).toHaveLength(others.length));
      await eventually(() => expect(stillOpen(idle)).toHaveLength(idle.length - 4));
      expect(stillOpen(busy)).toHaveLength(busy.length);
    });
  });

  it('of trusted proxies do not yield, whatever they hold', async () => {
    await serving(['--trusted-proxies', GREEDY], async (gw) => {
      const proxy = Array.from({ length: PLACES - 1 }, () => open(gw, GREEDY, get('/fast')));
      await eventually(() => expect(proxy.every(isAnswered)).toBe(true));
      const other = open(gw, OTHER, get('/fast'));
      await eventually(() => expect(isAnswered(other)).toBe(true));
      const last = open(gw, GREEDY, get('/fast'));
      await eventually(() => expect(isAnswered(last)).toBe(true));
      expect(stillOpen(proxy)).toHaveLength(proxy.length);
    });
  });
});
