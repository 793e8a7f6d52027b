/** What takes time on an HTTP/2 connection, with times that a test can wait for. */
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { TRANSPORT_LIMITS } from '../../../test/transport-limits.ts';
import type { Exchange } from '../exchange.ts';
import { ClientAddress } from '../headers/client-ip.ts';
import { BufferBudget } from '../memory/buffer-budget.ts';
import { LocalConnectionSlots } from './connection-slots.ts';
import { HeaderMemory } from './header-memory.ts';
import { createTransport, type Transport } from './transport.ts';
import type { TransportLimits } from './transport-state.ts';
import { UnreadResponses } from './unread-responses.ts';

const LIMITS: TransportLimits = {
  ...TRANSPORT_LIMITS,
  keepAliveTimeoutMs: 60_000,
  headersTimeoutMs: 60_000,
  bodyTimeoutMs: 60_000,
  sendTimeoutMs: 60_000,
  pingIntervalMs: 100,
};
/** A connection preface with empty SETTINGS. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
const PING = 6;
const ACK = 1;

/** The frames in what has come so far, as type and flags. */
function frames(bytes: Buffer): { type: number; flags: number }[] {
  const found: { type: number; flags: number }[] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    found.push({ type: bytes.readUInt8(at + 3), flags: bytes.readUInt8(at + 4) });
  }
  return found;
}

describe('HTTP/2 connections', () => {
  let transport: Transport | null = null;
  let open = 0;
  const sockets: Socket[] = [];

  async function listen(
    limits: Partial<TransportLimits>,
    request: (exchange: Exchange) => void = () => {},
  ): Promise<number> {
    transport = createTransport(
      { ...LIMITS, ...limits },
      {
        request,
        connectionOpened: () => {
          open++;
        },
        connectionClosed: () => {
          open--;
        },
        yielded: () => {},
        refused: () => {},
        crashed: () => {},
      },
      {
        slots: new LocalConnectionSlots(10_000),
        headerMemory: new HeaderMemory({ most: 1 << 20, client: new ClientAddress([]), yielded: () => {} }),
        unread: new UnreadResponses(new BufferBudget(1 << 20)),
      },
    );
    return (await transport.listen('127.0.0.1', 0)).port;
  }

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await transport?.close(0);
    await expect.poll(() => open).toBe(0);
  });

  it('are pinged, and end where a ping is not answered until the next', async () => {
    const port = await listen({});
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.write(PREFACE);
    await ended;
    expect(frames(Buffer.concat(chunks)).filter(({ type, flags }) => type === PING && flags !== ACK)).toHaveLength(1);
  });

  it('stay open for a client that answers pings', async () => {
    const port = await listen({});
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    let pings = 0;
    await new Promise<void>((resolve) => {
      session.on('ping', () => {
        if (++pings === 4) resolve();
      });
    });
    expect(session.destroyed).toBe(false);
    session.destroy();
    await expect.poll(() => open).toBe(0);
  });

  it('end after the keep-alive time without a stream, never while one is open', async () => {
    let answer = () => {};
    const port = await listen({ keepAliveTimeoutMs: 100, pingIntervalMs: 60_000 }, (exchange) => {
      answer = () => exchange.responder.send(exchange, 200, [], 'late');
    });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const stream = session.request({ ':path': '/' });
    const ended = new Promise((resolve) => session.once('close', resolve));
    const started = performance.now();
    setTimeout(() => answer(), 300);
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += chunk;
    expect(text).toBe('late');
    expect(performance.now() - started).toBeGreaterThan(250);
    await ended;
  });

  it('that vanish in the middle of a body end their exchange', async () => {
    let arrived: (exchange: Exchange) => void = () => {};
    const arrival = new Promise<Exchange>((resolve) => {
      arrived = resolve;
    });
    const port = await listen({}, (exchange) => arrived(exchange));
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const stream = session.request({ ':path': '/', ':method': 'PUT' }, { endStream: false });
    stream.on('error', () => {});
    stream.write(Buffer.alloc(200_000));
    const exchange = await arrival;
    const closed = new Promise<void>((resolve) => exchange.onClose(resolve));
    session.destroy();
    await closed;
    await expect.poll(() => open).toBe(0);
  });
});
