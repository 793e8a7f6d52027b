/**
 * Upstreams that send informational responses (1xx), and those that do not stop: others are served beside them
 * (docs/decisions.md#informational-bounded).
 */
import { type ClientHttp2Session, connect } from 'node:http2';
import { type AddressInfo, connect as connectTcp, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, withGateway } from './gateway.ts';
import { h2, raw } from './http.ts';

const responses = {};
const hint = (bytes: number) => {
  const line = (i: number) => `Link${i}: <${'a'.repeat(Math.min(bytes, 7000))}>\r\n`;
  return `HTTP/1.1 103 Early Hints\r\n${Array.from({ length: Math.ceil(bytes / 7000) }, (_, i) => line(i)).join('')}\r\n`;
};
const SMALL = hint(100);
const LARGE = hint(56_000);
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Sends what the path says, so many hints; without a number they do not end, and there is no answer. */
function answer(socket: Socket, path: string): void {
  const [, size, count] = path.split('/');
  const one = size === 'large' ? LARGE : SMALL;
  let left = count === 'endless' ? Number.POSITIVE_INFINITY : Number(count);
  const go = () => {
    for (; left > 0 && !socket.destroyed; left--) if (!socket.write(one)) return void socket.once('drain', next);
    if (!socket.destroyed && !path.endsWith('/held')) socket.write(ANSWER);
  };
  const next = () => {
    left--;
    go();
  };
  go();
}

describe('informational responses', () => {
  let upstream: Server;
  let artifact: Uint8Array;
  const connections = new Set<Socket>();

  beforeAll(async () => {
    upstream = createServer((socket) => {
      connections.add(socket);
      socket.on('error', () => {}).on('close', () => connections.delete(socket));
      socket.on('data', (head) => answer(socket, String(head).split(' ')[1] ?? ''));
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const parameters = [{ name: 'rest', in: 'path', required: true, allowReserved: true, schema: { type: 'string' } }];
    const proxied = {
      parameters,
      responses,
      'x-gw-dispatch': { name: 'http-upstream', config: { url, timeout: 600 } },
    };
    artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Hints', version: '1' },
        paths: {
          '/{rest+}': { get: proxied },
          '/others': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } } } },
        },
      },
      ['mock', 'http-upstream'],
    );
  });
  afterAll(() => {
    for (const socket of connections) socket.destroy();
    upstream?.close();
  });

  function session(gw: Gateway, localAddress: string): ClientHttp2Session {
    const port = Number(new URL(gw.url).port);
    const createConnection = () => connectTcp({ host: '127.0.0.1', port, localAddress });
    return connect(gw.url, { createConnection }).on('error', () => {});
  }

  /** A request whose informational responses are counted. */
  function hinted(on: ClientHttp2Session, path: string) {
    const stream = on
      .request({ ':path': path })
      .on('error', () => {})
      .resume();
    const seen = { hints: 0, status: 0, stream };
    stream.on('headers', () => void seen.hints++);
    stream.on('response', (headers) => {
      seen.status = headers[':status'] ?? 0;
    });
    return seen;
  }

  async function answers(gw: Gateway, status: number): Promise<number> {
    const text = await (await fetch(`${gw.admin}/metrics`)).text();
    const line = text
      .split('\n')
      .find((each) => each.includes('path="/{rest+}"') && each.includes(`status="${status}"`));
    return Number(line?.split(' ')[1] ?? 0);
  }

  it.each(['/small/endless', '/large/endless'])(
    'that do not end are a 502 for a client that reads nothing: %s',
    async (path) => {
      await withGateway(artifact, [], async (gw) => {
        const { socket } = raw(Number(new URL(gw.url).port));
        socket.pause();
        socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
        const client = session(gw, '127.0.0.3');
        await eventually(async () => expect(await answers(gw, 502)).toBe(1));
        const answer = await h2(client, { ':path': path });
        expect([answer.status, JSON.parse(answer.body).type]).toEqual([502, 'urn:gw:error:upstream-failed']);
        const other = session(gw, '127.0.0.2');
        expect((await h2(other, { ':path': '/others' })).status).toBe(200);
        await eventually(() => expect(connections.size).toBe(0));
        for (const each of [socket, client, other]) each.destroy();
      });
    },
  );

  it('reach clients of both protocols, a hundred of them', async () => {
    await withGateway(artifact, [], async (gw) => {
      const { socket, all } = raw(Number(new URL(gw.url).port));
      socket.write('GET /small/100 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      const text = await all;
      expect(text.split('HTTP/1.1 103 ')).toHaveLength(101);
      expect(text).toMatch(/HTTP\/1\.1 200 /);
      const client = session(gw, '127.0.0.1');
      const seen = hinted(client, '/small/100');
      await eventually(() => expect([seen.hints, seen.status]).toEqual([100, 200]));
      const beyond = hinted(client, '/small/101');
      await eventually(() => expect(beyond.status).toBe(502));
      client.destroy();
    });
  });

  it('count in the budget of held responses, of which the client that holds most gives way', async () => {
    await withGateway(artifact, ['--max-held-response-bytes', '500000'], async (gw) => {
      const greedy = session(gw, '127.0.0.1');
      const held = Array.from({ length: 6 }, () => hinted(greedy, '/large/4/held'));
      await eventually(() => expect(held.filter(({ stream }) => stream.closed).length).toBeGreaterThanOrEqual(4));
      const other = session(gw, '127.0.0.2');
      const seen = hinted(other, '/large/4');
      await eventually(() => expect([seen.hints, seen.status]).toEqual([4, 200]));
      expect((await h2(other, { ':path': '/others' })).status).toBe(200);
      for (const each of [greedy, other]) each.destroy();
    });
  });
});
