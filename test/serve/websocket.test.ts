/** `ws-upstream` in `gw serve`: open WebSockets, with the library `ws` on both sides. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import type { Gateway } from './gateway.ts';
import { gatewayOf, operation, sample } from './web-socket-project.ts';
import {
  closed,
  connecting,
  frame,
  handshake,
  KEY,
  leaveAll,
  message,
  opened,
  RawClient,
  startEcho,
  type WebSocketUpstream,
} from './web-sockets.ts';

describe('a WebSocket', () => {
  let echo: WebSocketUpstream;
  let gw: Gateway;
  beforeAll(async () => {
    echo = await startEcho({ handleProtocols: (offered) => (offered.has('chat') ? 'chat' : false) });
    const parameter = { name: 'room', in: 'path', required: true, schema: { type: 'string' } };
    gw = await gatewayOf({
      '/echo': operation({ url: `${echo.url}/base` }),
      '/small': operation({ url: echo.url, max_message_size: 1000 }),
      '/idle': operation({ url: echo.url, idle_timeout: 0.2 }),
      '/rooms/{room}': { parameters: [parameter], ...operation({ url: echo.url, path: '/r/{room}?fixed=1' }) },
      '/transformed': operation({ url: echo.url }, [
        {
          name: 'response-transformer',
          config: { headers: { set: { 'x-set': 'by a plugin' } }, body: { remove: ['/x'] } },
        },
      ]),
      '/traced': operation({ url: echo.url }, [{ name: 'correlation-id', config: {} }]),
    });
  });
  afterEach(async () => {
    leaveAll();
    // Whatever a test has done, nothing is left of it.
    await eventually(async () => {
      expect(await echo.connections()).toBe(0);
      expect(await sample(gw, 'gw_websocket_connections')).toBe(0);
    });
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await echo?.close();
  });

  it('carries text and binary messages both ways', async () => {
    const client = await opened(`${gw.url}/echo?a=%20b`);
    for (const data of ['hello', '', 'ü'.repeat(40_000), randomBytes(125), randomBytes(126), randomBytes(70_000)]) {
      client.send(data);
      expect((await message(client)).equals(Buffer.from(data))).toBe(true);
    }
    expect(echo.handshakes.at(-1)?.url).toBe('/base/echo?a=%20b');
    client.close(1000);
    expect(await closed(client)).toEqual({ code: 1000, reason: '' });
  });

  it('carries messages of 16 MiB, and many at once', async () => {
    const data = randomBytes(16 << 20);
    const client = await opened(`${gw.url}/echo`);
    client.send(data);
    expect((await message(client)).equals(data)).toBe(true);
    let left = 2000;
    const all = new Promise<void>((resolve) => {
      client.on('message', () => --left === 0 && resolve());
    });
    for (let i = 0; i < 2000; i++) client.send(`message ${i}`);
    await all;
    client.close();
    await closed(client);
  });

  it('carries fragments, with pings between them', async () => {
    const client = await opened(`${gw.url}/echo`);
    const pong = once(client, 'pong');
    const whole = message(client);
    client.send('one ', { fin: false });
    client.ping('between');
    client.send('two ', { fin: false });
    client.send('three', { fin: true });
    expect(String(await whole)).toBe('one two three');
    expect(String((await pong)[0])).toBe('between');
    const ping = once(client, 'ping');
    echo.latest().ping('from the upstream');
    expect(String((await ping)[0])).toBe('from the upstream');
    client.terminate();
  });

  it('passes the sub-protocol that the upstream chose', async () => {
    const client = await opened(`${gw.url}/echo`, ['other', 'chat']);
    expect(client.protocol).toBe('chat');
    expect(echo.handshakes.at(-1)?.headers['sec-websocket-protocol']).toBe('other,chat');
    client.terminate();
  });

  it('tells the upstream who asks, and makes its handshake with a key of its own', async () => {
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    const client = await opened(`${gw.url}/echo`, [], {
      headers: { ...trace, 'x-request-id': 'r-1', 'x-unknown': 'no' },
    });
    const { headers } = echo.handshakes.at(-1) as (typeof echo.handshakes)[number];
    expect(headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-request-id': 'r-1',
    });
    expect(headers['gw-hops']).toBe('1');
    expect(headers['traceparent']).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
    expect(headers['x-unknown']).toBeUndefined();
    client.terminate();
    const bare = new RawClient(gw.url, handshake('/echo'));
    await bare.until(({ text }) => text.includes('\r\n\r\n'));
    expect(echo.handshakes.at(-1)?.headers['sec-websocket-key']).not.toBe(KEY);
    // Of RFC 6455, section 1.3.
    expect(bare.text).toContain('sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    bare.socket.destroy();
  });

  it('gets the path that the config says, with parameters and query', async () => {
    const client = await opened(`${gw.url}/rooms/a%2Fb?x=1`);
    expect(echo.handshakes.at(-1)?.url).toBe('/r/a%2Fb?fixed=1&x=1');
    client.terminate();
    const answer = await fetch(`${gw.url}/rooms/x`, { method: 'POST' });
    expect(answer.status).toBe(405);
  });

  it('has the headers that middlewares and the gateway put on every answer', async () => {
    const client = connecting(`${gw.url}/traced`);
    const open = once(client, 'open');
    const [response] = await once(client, 'upgrade');
    expect(response.headers['x-correlation-id']).toMatch(/./);
    expect(response.headers.server).toMatch(/^gw\//);
    await open;
    client.terminate();
  });

  it('opens also where a middleware wants responses whole', async () => {
    const client = connecting(`${gw.url}/transformed`);
    const open = once(client, 'open');
    const [response] = await once(client, 'upgrade');
    expect(response.headers['x-set']).toBe('by a plugin');
    await open;
    client.send('hello');
    expect(String(await message(client))).toBe('hello');
  });

  it.each([1000, 1001, 1008, 3000, 4999])('is closed by the client with %d, and by the upstream', async (code) => {
    const client = await opened(`${gw.url}/echo`);
    const both = Promise.all([closed(client), closed(echo.latest())]);
    client.close(code, 'from the client');
    const [atClient, atUpstream] = await both;
    expect([atClient.code, atUpstream]).toEqual([code, { code, reason: 'from the client' }]);
    const other = await opened(`${gw.url}/echo`);
    echo.latest().close(code, 'from the upstream');
    expect(await closed(other)).toEqual({ code, reason: 'from the upstream' });
  });

  it('is closed without a code', async () => {
    const client = await opened(`${gw.url}/echo`);
    client.close();
    expect((await closed(client)).code).toBe(1005);
  });

  it('is closed with 1001 towards the upstream where the client is lost', async () => {
    const client = await opened(`${gw.url}/echo`);
    const upstream = closed(echo.latest());
    client.terminate();
    expect(await upstream).toEqual({ code: 1001, reason: 'the client has gone' });
  });

  it('is closed with 1011 towards the client where the upstream is lost', async () => {
    const client = await opened(`${gw.url}/echo`);
    echo.latest().terminate();
    expect(await closed(client)).toEqual({ code: 1011, reason: 'the upstream has gone' });
  });

  it('ends the connection to the upstream where the client leaves within a message', async () => {
    const client = new RawClient(gw.url, handshake('/echo'));
    await client.until(({ text }) => text.includes('\r\n\r\n'));
    const upstream = closed(echo.latest());
    client.socket.write(frame('x'.repeat(1000)).subarray(0, 500));
    client.socket.end();
    expect((await upstream).code).toBe(1006);
  });

  it('is closed with 1009 where a message is too large, in one frame or in many', async () => {
    const exact = await opened(`${gw.url}/small`);
    exact.send('x'.repeat(1000));
    expect((await message(exact)).length).toBe(1000);
    exact.send('x'.repeat(1001));
    expect(await closed(exact)).toEqual({ code: 1009, reason: 'the message is too large' });
    const pieces = await opened(`${gw.url}/small`);
    const upstream = closed(echo.latest());
    for (let i = 0; i < 11; i++) pieces.send('x'.repeat(100), { fin: false });
    expect((await closed(pieces)).code).toBe(1009);
    // Within a message, but at the end of a frame.
    expect((await upstream).code).toBe(1001);
  });

  it('is closed with 1001 where neither side sends anything', async () => {
    const client = await opened(`${gw.url}/idle`);
    const upstream = closed(echo.latest());
    expect(await closed(client)).toEqual({ code: 1001, reason: 'idle timeout' });
    expect(await upstream).toEqual({ code: 1001, reason: 'idle timeout' });
  });

  it.each([
    ['a frame without a mask', frame('x', { masked: false })],
    ['a reserved bit', frame('x', { rsv: 1 })],
    ['RSV1 without compression', frame('x', { rsv: 4 })],
    ['a reserved opcode', frame('x', { opcode: 3 })],
    ['a ping in fragments', frame('x', { opcode: 9, fin: false })],
    ['a long ping', frame('x'.repeat(126), { opcode: 9 })],
    ['a continuation of nothing', frame('x', { opcode: 0 })],
    ['half a code', frame('x', { opcode: 8 })],
  ])('is closed with 1002 where the client sends %s', async (_, bytes) => {
    const client = new RawClient(gw.url, handshake('/echo'));
    await client.until(({ text }) => text.includes('\r\n\r\n'));
    const upstream = closed(echo.latest());
    client.socket.write(bytes);
    await client.until(({ ended }) => ended);
    expect([...client.frames.subarray(0, 4)]).toEqual([0x88, client.frames.length - 2, 1002 >> 8, 1002 & 0xff]);
    expect(await upstream).toEqual({ code: 1001, reason: 'the client broke the protocol' });
  });

  it('takes what comes behind the handshake, before it is answered, as its own and not as HTTP', async () => {
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
    const first = new RawClient(gw.url, Buffer.concat([Buffer.from(handshake('/echo')), frame('early')]));
    await first.until(({ frames }) => frames.equals(frame('early', { masked: false })));
    first.socket.destroy();
    const before = await sample(gw, 'gw_requests_total{method="GET",path="unmatched"');
    const second = new RawClient(gw.url, handshake('/echo') + smuggled);
    await second.until(({ ended }) => ended);
    expect(second.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(await sample(gw, 'gw_requests_total{method="GET",path="unmatched"')).toBe(before);
  });

  it('holds little of what one side sends and the other does not read', async () => {
    const client = new RawClient(gw.url, handshake('/echo'));
    await client.until(({ text }) => text.includes('\r\n\r\n'));
    client.socket.pause();
    const upstream = echo.latest();
    const piece = randomBytes(1 << 20);
    for (let i = 0; i < 64; i++) upstream.send(piece);
    await eventually(() => expect(upstream.bufferedAmount).toBeGreaterThan(40 << 20));
    // It goes on where the client reads again.
    client.socket.resume();
    await client.until(({ bytes }) => bytes >= 64 << 20);
    client.socket.destroy();
  });

  it('is one of many at once', async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => opened(`${gw.url}/echo`)));
    expect(await sample(gw, 'gw_websocket_connections')).toBe(200);
    await Promise.all(
      clients.map((client, i) => {
        client.send(`message ${i}`);
        return message(client).then((data) => expect(String(data)).toBe(`message ${i}`));
      }),
    );
    for (const client of clients) client.terminate();
  });

  it('is logged and counted when it ends', async () => {
    const before = await sample(gw, 'gw_websocket_messages_total{direction="received"}');
    const client = await opened(`${gw.url}/echo`, [], { headers: { 'x-request-id': 'logged' } });
    client.send('hello');
    await message(client);
    client.close(4001);
    const line = await gw.logged(({ request_id }) => request_id === 'logged');
    expect(line).toMatchObject({ status: 101, route: '/echo', closed_by: 'client', close_code: 4001 });
    // Heads of frames are counted: 6 bytes from clients, 2 to them.
    expect(line).toMatchObject({ request_bytes: 11 + 8, response_bytes: 7 + 4 });
    expect(await sample(gw, 'gw_websocket_messages_total{direction="received"}')).toBe(before + 1);
  });
});

describe('compression', () => {
  it('is agreed on between client and upstream', async () => {
    const echo = await startEcho({ perMessageDeflate: { threshold: 0 } });
    const gw = await gatewayOf({ '/echo': operation({ url: echo.url }) });
    const client = await opened(`${gw.url}/echo`, [], { perMessageDeflate: { threshold: 0 } });
    expect(client.extensions).toBe('permessage-deflate');
    const before = await sample(gw, 'gw_websocket_bytes_total{direction="received"}');
    client.send('x'.repeat(1 << 20));
    expect((await message(client)).length).toBe(1 << 20);
    expect((await sample(gw, 'gw_websocket_bytes_total{direction="received"}')) - before).toBeLessThan(10_000);
    client.terminate();
    const other = new RawClient(
      gw.url,
      handshake('/echo', 'Sec-WebSocket-Extensions: x-other; y="a,b", permessage-deflate; server_no_context_takeover'),
    );
    await other.until(({ text }) => text.includes('\r\n\r\n'));
    expect(echo.handshakes.at(-1)?.headers['sec-websocket-extensions']).toBe(
      'permessage-deflate; server_no_context_takeover',
    );
    other.socket.destroy();
    const none = new RawClient(gw.url, handshake('/echo', 'Sec-WebSocket-Extensions: x-other'));
    await none.until(({ text }) => text.includes('\r\n\r\n'));
    expect(echo.handshakes.at(-1)?.headers['sec-websocket-extensions']).toBeUndefined();
    none.socket.destroy();
    expect(await gw.stop()).toBe(0);
    await echo.close();
  });
});
