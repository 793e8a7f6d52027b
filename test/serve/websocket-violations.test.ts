/** `ws-upstream` in `gw serve`: what a client still hears that breaks the protocol. */
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from './gateway.ts';
import { gatewayOf, operation } from './web-socket-project.ts';
import {
  frame,
  handshake,
  leaveAll,
  RawClient,
  serverClose,
  startEcho,
  startRawUpstream,
  switching,
  type WebSocketUpstream,
} from './web-sockets.ts';

const BROKEN = frame('x', { rsv: 1 });
const TOLD = serverClose(1002, 'a reserved bit is set');

describe('a client that breaks the protocol', () => {
  let echo: WebSocketUpstream;
  let raw: Awaited<ReturnType<typeof startRawUpstream>>;
  /** What the raw upstream does behind its handshake. */
  let go: (socket: Socket) => void;
  let gw: Gateway;
  beforeAll(async () => {
    echo = await startEcho();
    raw = await startRawUpstream((socket, head) => {
      socket.write(switching(head));
      go(socket);
    });
    gw = await gatewayOf({
      '/echo': operation({ url: echo.url, max_message_size: 300_000 }),
      '/raw': operation({ url: raw.url }),
    });
  });
  afterEach(leaveAll);
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await echo?.close();
    await raw?.close();
  });

  async function open(path: string): Promise<RawClient> {
    const client = new RawClient(gw.url, handshake(path));
    await client.until(({ text }) => text.includes('\r\n\r\n'));
    return client;
  }

  it('gets the answers to what it has sent before, and then its close frame', async () => {
    const client = await open('/echo');
    const messages = ['one', 'x'.repeat(200_000)];
    client.socket.write(Buffer.concat([...messages.map((each) => frame(each)), BROKEN, frame('later')]));
    await client.until(({ ended }) => ended);
    const answers = messages.map((each) => frame(each, { masked: false }));
    expect(client.frames.equals(Buffer.concat([...answers, TOLD]))).toBe(true);
  });

  it('gets them where a message is too large, too', async () => {
    const client = await open('/echo');
    client.socket.write(Buffer.concat([frame('one'), frame('x'.repeat(300_001))]));
    await client.until(({ ended }) => ended);
    const told = serverClose(1009, 'the message is too large');
    expect(client.frames.equals(Buffer.concat([frame('one', { masked: false }), told]))).toBe(true);
  });

  it('is told so in a close frame of the gateway alone, whatever the upstream says in its own', async () => {
    go = (socket) =>
      socket.once('data', () =>
        socket.write(Buffer.concat([frame('last', { masked: false }), serverClose(1000, 'bye')])),
      );
    const client = await open('/raw');
    client.socket.write(BROKEN);
    await client.until(({ ended }) => ended);
    expect(client.frames.equals(Buffer.concat([frame('last', { masked: false }), TOLD]))).toBe(true);
  });

  it('is told so where its upstream says nothing more', async () => {
    go = () => {};
    const client = await open('/raw');
    client.socket.write(BROKEN);
    await client.until(({ ended }) => ended);
    expect(client.frames.equals(TOLD)).toBe(true);
  });

  it('is told so where its upstream talks without an end', async () => {
    go = (socket) => {
      const talk = () => socket.write(frame('x', { masked: false }), () => socket.destroyed || setImmediate(talk));
      talk();
    };
    const client = await open('/raw');
    client.socket.write(BROKEN);
    await client.until(({ ended }) => ended);
    expect(client.frames.subarray(-TOLD.length).equals(TOLD)).toBe(true);
  });

  it('loses its connection where its upstream stops within a frame', async () => {
    const half = frame('half', { masked: false }).subarray(0, 4);
    go = (socket) => socket.write(half);
    const client = await open('/raw');
    await client.until(({ frames }) => frames.length === half.length);
    client.socket.write(BROKEN);
    await client.until(({ ended }) => ended);
    expect(client.frames.equals(half)).toBe(true);
  });

  it('that goes on sending is not waited for', async () => {
    go = () => {};
    const client = await open('/raw');
    client.socket.write(BROKEN);
    const flood = setInterval(() => client.socket.write(frame('x')), 5);
    await client.until(({ ended }) => ended);
    clearInterval(flood);
    expect(client.frames.equals(TOLD)).toBe(true);
  });
});
