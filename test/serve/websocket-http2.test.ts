/** WebSockets on streams of HTTP/2 (RFC 8441). */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type ClientHttp2Session, constants, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import type { Gateway } from './gateway.ts';
import { h2, h2session } from './http.ts';
import { gatewayOf, operation, responses, sample } from './web-socket-project.ts';
import { closed, frame, serverClose, startEcho, type WebSocketUpstream } from './web-sockets.ts';

describe('HTTP/2', () => {
  let echo: WebSocketUpstream;
  let plain: Server;
  let gw: Gateway;
  let session: ClientHttp2Session;
  beforeAll(async () => {
    echo = await startEcho({ perMessageDeflate: true, handleProtocols: () => 'chat' });
    plain = createServer((_, response) => response.end('plain')).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const refuses = { name: 'ip-restriction', config: { deny: ['127.0.0.1'], status: 401 } };
    gw = await gatewayOf({
      '/echo': operation({ url: echo.url }),
      '/refused': operation({ url: echo.url }, [refuses]),
      '/plain': operation({ url: `ws://127.0.0.1:${(plain.address() as AddressInfo).port}` }),
      '/down': operation({ url: `ws://127.0.0.1:${await freePort()}` }),
      '/mock': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'mocked' } } } },
    });
    session = await h2session(gw.url);
    if (!session.remoteSettings.enableConnectProtocol) await once(session, 'remoteSettings');
  });
  afterEach(() =>
    eventually(async () => {
      expect(await echo.connections()).toBe(0);
      expect(await sample(gw, 'gw_websocket_connections')).toBe(0);
    }),
  );
  afterAll(async () => {
    session?.close();
    expect(await gw?.stop()).toBe(0);
    await echo?.close();
    plain?.closeAllConnections();
    plain?.close();
  });

  /** An extended CONNECT (RFC 8441, section 5), with all that comes back. */
  async function connected(path: string, headers: Readonly<Record<string, string>> = {}, over = session) {
    const stream = over.request(
      {
        ...{ ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http', ':path': path },
        ...{ ':authority': new URL(gw.url).host, 'sec-websocket-version': '13', ...headers },
      },
      { endStream: false },
    );
    const chunks: Buffer[] = [];
    stream.on('error', () => {}).on('data', (chunk: Buffer) => chunks.push(chunk));
    const [answer]: [IncomingHttpHeaders & { ':status'?: number }] = (await once(stream, 'response')) as never;
    return { stream, answer, status: answer[':status'], received: () => Buffer.concat(chunks) };
  }

  it('carries WebSockets on streams, by extended CONNECT', async () => {
    const sent = { 'sec-websocket-protocol': 'chat', 'sec-websocket-extensions': 'permessage-deflate' };
    const { stream, status, answer, received } = await connected('/echo?x=1', sent);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ ...sent, server: expect.stringMatching(/^gw/) });
    expect(Object.keys(answer)).not.toContain('sec-websocket-accept');
    expect(Object.keys(answer)).not.toContain('upgrade');
    expect(echo.handshakes.at(-1)).toMatchObject({ url: '/echo?x=1', method: 'GET' });
    stream.write(frame('hello'));
    // "hello", as RFC 7692 compresses it (section 7.2.3.1).
    await eventually(() => expect(received().toString('hex')).toBe('c107ca48cdc9c90700'));
    // Other streams of the connection go on.
    expect(await h2(session, { ':path': '/mock' })).toMatchObject({ status: 200, body: 'mocked' });
    const upstream = closed(echo.latest());
    stream.write(frame(Buffer.from([0x0f, 0xa1]), { opcode: 8 }));
    expect((await upstream).code).toBe(4001);
    await once(stream, 'close');
    expect(stream.rstCode).toBe(0);
    expect(await gw.logged(({ close_code }) => close_code === 4001)).toMatchObject({ status: 101, method: 'GET' });
  });

  it('carries long messages, and tells the upstream where the client resets its stream', async () => {
    const { stream, received } = await connected('/echo');
    stream.write(frame(randomBytes(16 << 20), { opcode: 2 }));
    await eventually(() => expect(received().length).toBe((16 << 20) + 10));
    const upstream = closed(echo.latest());
    stream.close(constants.NGHTTP2_CANCEL);
    expect((await upstream).code).toBe(1001);
  });

  it('tells the client where the upstream is lost', async () => {
    const { stream, received } = await connected('/echo');
    echo.latest().terminate();
    await eventually(() => expect(received()).toEqual(serverClose(1011, 'the upstream has gone')));
    stream.end(frame(Buffer.from([0x03, 0xf3]), { opcode: 8 }));
    await once(stream, 'close');
  });

  it.each([
    ['/refused', {}, 401],
    ['/down', {}, 502],
    ['/nowhere', {}, 404],
    // A success would be an open WebSocket to the client.
    ['/mock', {}, 501],
    ['/plain', {}, 502],
    ['/echo', { 'sec-websocket-version': '8' }, 426],
    ['/echo', { ':protocol': 'connect-udp' }, 501],
  ])('answers %s with %j by %d', async (path, headers, status) => {
    const before = echo.handshakes.length;
    const answered = await connected(path, headers);
    expect(answered.status).toBe(status);
    answered.stream.end();
    await once(answered.stream, 'close');
    expect(echo.handshakes.length).toBe(before);
  });

  it('asks for an extended CONNECT with 426 where a request is none', async () => {
    expect((await h2(session, { ':path': '/echo' })).status).toBe(426);
  });

  it('is told when the gateway stops', async () => {
    const other = await gatewayOf({ '/echo': operation({ url: echo.url }) });
    const own = await h2session(other.url);
    if (!own.remoteSettings.enableConnectProtocol) await once(own, 'remoteSettings');
    const { stream, received } = await connected('/echo', { ':authority': new URL(other.url).host }, own);
    const upstream = closed(echo.latest());
    const over = once(stream, 'close');
    other.signal('SIGTERM');
    const told = serverClose(1001, 'the gateway is stopping');
    await eventually(() => expect(received().equals(told)).toBe(true));
    stream.end(frame(Buffer.from([0x03, 0xe9]), { opcode: 8 }));
    expect((await upstream).code).toBe(1001);
    await over;
    expect(await other.exited).toBe(0);
  });
});
