/** A transport whose requests fail in the events of node:http and node:http2, which catch nothing. */
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { TRANSPORT_LIMITS } from '../../../test/transport-limits.ts';
import type { Exchange } from '../exchange.ts';
import { ClientAddress } from '../headers/client-ip.ts';
import { BufferBudget } from '../memory/buffer-budget.ts';
import { LocalConnectionSlots } from './connection-slots.ts';
import { HeaderMemory } from './header-memory.ts';
import { createTransport, type Transport } from './transport.ts';
import { UnreadResponses } from './unread-responses.ts';

describe('a request that fails in an event', () => {
  let transport: Transport | null = null;
  const crashes: unknown[] = [];

  async function listen(request: (exchange: Exchange) => void): Promise<number> {
    const headerMemory = new HeaderMemory({ most: 1 << 20, client: new ClientAddress([]), yielded() {} });
    const events = { connectionOpened() {}, connectionClosed() {}, yielded() {}, refused() {} };
    transport = createTransport(
      TRANSPORT_LIMITS,
      { ...events, request, crashed: (error) => crashes.push(error) },
      { slots: new LocalConnectionSlots(100), headerMemory, unread: new UnreadResponses(new BufferBudget(1 << 20)) },
    );
    return (await transport.listen('127.0.0.1', 0)).port;
  }

  afterEach(async () => {
    await transport?.close(0);
    crashes.length = 0;
  });

  const UPGRADE = 'Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n';
  it.each([
    ['a request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    [
      'one that waits to be continued',
      'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n',
    ],
    ['one that expects something else', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n'],
    ['a WebSocket', `GET / HTTP/1.1\r\nHost: a\r\n${UPGRADE}\r\n`],
  ])('ends its connection, and is reported: %s', async (_kind, sent) => {
    const port = await listen(() => {
      throw new Error('a defect');
    });
    const closed = new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(sent));
      socket.on('error', () => {}).on('close', () => resolve());
    });
    await closed;
    expect(crashes).toMatchObject([{ message: 'a defect' }]);
  });

  it('ends its stream of HTTP/2 alone', async () => {
    const port = await listen((exchange) => {
      if (exchange.path === '/bad') throw new Error('a defect');
      exchange.responder.send(exchange, 200, [], 'ok');
    });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const status = (path: string) =>
      new Promise((resolve) => {
        const stream = session
          .request({ ':path': path })
          .on('error', () => resolve('reset'))
          .resume();
        stream.on('response', (headers) => resolve(headers[':status']));
      });
    expect([await status('/bad'), await status('/good')]).toEqual(['reset', 200]);
    expect(crashes).toMatchObject([{ message: 'a defect' }]);
    session.close();
  });

  it('is reported also if it fails as it ends, and the rest of its end is done', async () => {
    let ended = 0;
    const port = await listen((exchange) => {
      exchange.onClose(() => {
        throw new Error('a defect');
      });
      exchange.onClose(() => ended++);
      exchange.responder.send(exchange, 200, [], 'ok');
    });
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    session.request({ ':path': '/' }).resume();
    await eventually(() => expect([ended, crashes.length]).toEqual([2, 2]));
    session.close();
  });
});
