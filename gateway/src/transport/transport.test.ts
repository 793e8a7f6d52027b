/** Connections that are on their way to a server when it closes. */
import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { TRANSPORT_LIMITS } from '../../../test/transport-limits.ts';
import type { Exchange } from '../exchange.ts';
import { ClientAddress } from '../headers/client-ip.ts';
import { BufferBudget } from '../memory/buffer-budget.ts';
import { HeaderMemory } from './header-memory.ts';
import { createTransport } from './transport.ts';
import { UnreadResponses } from './unread-responses.ts';

/** None of which ends anything in a test. */
const FAR_OFF = 600_000;

describe('closing', () => {
  it('waits for no connection that gets its slot only then, and says nothing', async () => {
    const held: ((admitted: boolean) => void)[] = [];
    let released = 0;
    const slots = {
      take: () => new Promise<boolean>((resolve) => held.push(resolve)),
      release: () => {
        released++;
      },
    };
    const nothing = () => {};
    const events = {
      request: nothing,
      connectionOpened: nothing,
      connectionClosed: nothing,
      yielded: nothing,
      refused: nothing,
      crashed: nothing,
    };
    const headerMemory = new HeaderMemory({ most: 1 << 20, client: new ClientAddress([]), yielded: nothing });
    const unread = new UnreadResponses(new BufferBudget(1 << 20));
    const transport = createTransport(TRANSPORT_LIMITS, events, { slots, headerMemory, unread });
    const { port } = await transport.listen('127.0.0.1', 0);
    const clients = Array.from({ length: 3 }, () => silent(port));
    await eventually(() => expect(held).toHaveLength(3));
    const closed = transport.close(FAR_OFF);
    for (const admit of held) admit(true);
    await closed;
    await eventually(() => expect(clients.every(({ closed }) => closed)).toBe(true));
    expect(released).toBe(3);
  });
});

describe('a kept connection', () => {
  it('holds nothing of the requests that have ended on it', async () => {
    const events = { connectionOpened() {}, connectionClosed() {}, yielded() {}, refused() {}, crashed() {} };
    const ended: WeakRef<Exchange>[] = [];
    const request = (exchange: Exchange) => {
      ended.push(new WeakRef(exchange));
      const sent = () => exchange.responder.send(exchange, 200, [], 'ok');
      exchange.bodyStream === null ? sent() : (exchange.bodyStream as Readable).resume().on('end', sent);
    };
    const nothing = () => {};
    const headerMemory = new HeaderMemory({ most: 1 << 20, client: new ClientAddress([]), yielded: nothing });
    const unread = new UnreadResponses(new BufferBudget(1 << 20));
    const slots = { take: async () => true, release: nothing };
    const transport = createTransport(TRANSPORT_LIMITS, { ...events, request }, { slots, headerMemory, unread });
    const { port } = await transport.listen('127.0.0.1', 0);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const post = (body: string) =>
      new Promise<void>((resolve, reject) => {
        const asked = httpRequest({ port, host: '127.0.0.1', agent, method: body === '' ? 'GET' : 'POST' }, (answer) =>
          answer.resume().on('end', resolve),
        );
        asked.on('error', reject).end(body);
      });
    for (let i = 0; i < 50; i++) await post(i % 2 === 0 ? '' : 'x'.repeat(100_000));
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    await eventually(() => {
      if (typeof collect === 'function') collect();
      // The parser of a kept connection holds the last one.
      expect(ended.filter((each) => each.deref() !== undefined).length).toBeLessThanOrEqual(1);
    });
    agent.destroy();
    await transport.close(0);
    expect(ended).toHaveLength(50);
  });
});

function silent(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket.resume();
}
