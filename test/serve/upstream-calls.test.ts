/** Calls to upstreams that do not end, and others that want a place beside them (docs/decisions.md#upstream-calls). */
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, withGateway } from './gateway.ts';
import { h2, raw } from './http.ts';

const MOST = 20;
const responses = {};

describe('calls to upstreams', () => {
  let upstream: Server;
  let artifact: Uint8Array;
  /** Of requests that are not answered. */
  const held = new Set<{ destroy(): unknown }>();

  beforeAll(async () => {
    upstream = createServer((request, response) => {
      if (!request.url?.startsWith('/held')) return void response.end('ok');
      held.add(response);
      response.on('close', () => held.delete(response));
      if (request.url.includes('begun')) response.write('begun');
    });
    upstream.on('upgrade', (request, socket) => {
      held.add(socket);
      socket.on('error', () => {}).on('end', () => socket.end());
      socket.on('close', () => held.delete(socket));
      socket.resume();
      const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
      socket.write(head);
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const proxied = { responses, 'x-gw-dispatch': { name: 'http-upstream', config: { url, timeout: 600 } } };
    const called = {
      responses,
      'x-gw-dispatch': { name: 'function-url', config: { url: `${url}/held`, timeout: 300 } },
    };
    const relayed = {
      responses: { 101: { description: 'Switching' } },
      'x-gw-dispatch': { name: 'ws-upstream', config: { url: url.replace('http', 'ws') } },
    };
    artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Calls', version: '1' },
        paths: {
          '/held': { get: proxied },
          '/held/begun': { get: proxied },
          '/ok': { get: proxied },
          '/function': { post: called },
          '/socket': { get: relayed },
        },
      },
      ['http-upstream', 'function-url', 'ws-upstream'],
    );
  });
  afterAll(() => {
    for (const each of held) each.destroy();
    upstream?.close();
  });

  function session(gw: Gateway, localAddress: string): ClientHttp2Session {
    const port = Number(new URL(gw.url).port);
    const createConnection = () => connectTcp({ host: '127.0.0.1', port, localAddress });
    return connect(gw.url, { createConnection }).on('error', () => {});
  }

  async function yields(gw: Gateway, yielded: string): Promise<number> {
    const text = await (await fetch(`${gw.admin}/metrics`)).text();
    const found = text.split('\n').find((each) => each.includes('limit="upstream-calls"') && each.includes(yielded));
    return Number(found?.split(' ')[1] ?? 0);
  }

  it.each([
    ['proxied', { ':path': '/held' }],
    ['of functions', { ':path': '/function', ':method': 'POST' }],
  ])('are shared: the client that has most gives way to others (%s)', async (_, headers) => {
    await withGateway(artifact, ['--max-upstream-calls', String(MOST)], async (gw) => {
      const greedy = session(gw, '127.0.0.1');
      const answers = Array.from({ length: MOST }, () => h2(greedy, headers).catch(() => null));
      await eventually(() => expect(held.size).toBe(MOST));
      // It has all that there are: one more of its own is refused, and ends none of the others.
      expect(await h2(greedy, { ':path': '/ok' })).toMatchObject({ status: 503 });
      expect([await yields(gw, 'refused'), held.size]).toEqual([1, MOST]);
      const other = session(gw, '127.0.0.2');
      for (let i = 1; i <= 3; i++) expect(await h2(other, { ':path': '/ok' })).toMatchObject({ status: 200 });
      // Its first call ended the oldest one of the others, whose place is free from then on.
      expect(await answers[0]).toMatchObject({ status: 503 });
      expect(JSON.parse((await answers[0])?.body ?? '')).toMatchObject({ type: 'urn:gw:error:overloaded' });
      expect(await yields(gw, 'ended')).toBe(1);
      expect(await h2(greedy, { ':path': '/ok' })).toMatchObject({ status: 200 });
      for (const each of [greedy, other]) each.destroy();
      await eventually(() => expect(held.size).toBe(0));
    });
  });

  it('are cut off if their response has begun, and so are relayed WebSockets', async () => {
    await withGateway(artifact, ['--max-upstream-calls', '2'], async (gw) => {
      const greedy = session(gw, '127.0.0.1');
      const { socket } = raw(Number(new URL(gw.url).port));
      const key = 'dGhlIHNhbXBsZSBub25jZQ==';
      socket.write(
        `GET /socket HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
      );
      await eventually(() => expect(held.size).toBe(1));
      const begun = greedy.request({ ':path': '/held/begun' }).on('error', () => {});
      let text = '';
      begun.on('data', (chunk) => {
        text += chunk;
      });
      await eventually(() => expect(text).toBe('begun'));
      const other = session(gw, '127.0.0.2');
      expect(await h2(other, { ':path': '/ok' })).toMatchObject({ status: 200 });
      // Its WebSocket has ended at the upstream.
      await eventually(() => expect(held.size).toBe(1));
      h2(greedy, { ':path': '/held' }).catch(() => {});
      await eventually(() => expect(held.size).toBe(2));
      expect(await h2(other, { ':path': '/ok' })).toMatchObject({ status: 200 });
      await eventually(() => expect(begun.closed).toBe(true));
      expect(await yields(gw, 'ended')).toBe(2);
      for (const each of [greedy, other, socket]) each.destroy();
      await eventually(() => expect(held.size).toBe(0));
    });
  });
});
