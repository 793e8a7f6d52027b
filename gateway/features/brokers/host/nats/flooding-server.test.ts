/** A server of NATS that says much and hears little: its connection ends, and others go on meanwhile. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { NatsConnection } from '@nats-io/nats-core';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../../../test/eventually.ts';
import { MisbehavingPeer } from '../../../../../test/misbehaving-peer.ts';
import { EgressGuard } from '../../../../src/egress/guard.ts';
import type { NatsServers } from './nats-settings.ts';
import { openClient } from './vetted-client.ts';

const INFO =
  'INFO {"server_id":"s","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576,"jetstream":false}\r\n';
const MOST_WAITING = 1 << 20;
const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });

let peer: MisbehavingPeer;
let client: NatsConnection;
afterEach(async () => {
  peer.close();
  await client.close();
});

/** `subscribed` gets the connection, and what a message of its subscription begins with. */
async function serve(subscribed: (socket: Socket, message: string) => void): Promise<void> {
  peer = await MisbehavingPeer.start((socket) => {
    socket.write(INFO);
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      const [, subject, sid] = /^SUB (\S+) (\d+)\r\n/m.exec(text) ?? [];
      if (/^PING\r\n/m.test(text)) socket.write('PONG\r\n');
      if (subject !== undefined) subscribed(socket, `MSG ${subject} ${sid}`);
    });
  });
  const servers: NatsServers = {
    servers: [peer.address],
    credentials: { kind: 'none' },
    tls: null,
    allowPlaintext: true,
  };
  client = await openClient(servers, guard, MOST_WAITING);
}

/** Writes until the connection ends, or so many times. */
async function flood(socket: Socket, piece: string, times: number): Promise<void> {
  for (let i = 0; i < times && !socket.destroyed; i++) {
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
  }
}

describe('a server that talks without an end', () => {
  const stranger = 'MSG s 99 2\r\nhi\r\n';
  it.each([
    { what: 'pings', line: 'PING\r\n', reason: 'sends too much that no subscription is for' },
    { what: 'pongs', line: 'PONG\r\n', reason: 'sends too much that no subscription is for' },
    { what: 'acknowledgements', line: '+OK\r\n', reason: 'sends too much that no subscription is for' },
    { what: 'errors', line: "-ERR 'x'\r\n", reason: 'sends too much that no subscription is for' },
    { what: 'greetings', line: INFO, reason: 'sends too much that no subscription is for' },
    { what: 'messages for nobody', line: stranger, reason: 'sends too much that no subscription is for' },
    { what: 'one line', line: 'q'.repeat(20), reason: 'too long', begin: 'MSG ' },
  ])('is left if it sends $what', async ({ line, reason, begin = '' }) => {
    await serve((socket) => {
      socket.write(begin);
      void flood(socket, line.repeat(1_000), 200);
    });
    client.subscribe('s', { callback: () => {} });
    expect(await client.closed()).toMatchObject({ message: expect.stringContaining(reason) });
  });
});

it('gives turns to others between messages that take long', async () => {
  const message = 'x'.repeat(20);
  const count = 3_000;
  await serve((socket, begin) => socket.write(`${begin} ${message.length}\r\n${message}\r\n`.repeat(count)));
  let received = 0;
  let inTurn = 0;
  let mostInTurn = 0;
  const newTurn = () => {
    inTurn = 0;
    if (received < count) setImmediate(newTurn);
  };
  newTurn();
  client.subscribe('s', {
    callback: () => {
      received++;
      mostInTurn = Math.max(mostInTurn, ++inTurn);
      for (const until = performance.now() + 0.05; performance.now() < until; );
    },
  });
  await eventually(() => expect(received).toBe(count));
  // A slice of 4 KiB as it is read, and one behind it.
  expect(mostInTurn).toBeLessThanOrEqual(300);
});

it('answers pings that wait for an answer together', async () => {
  let pongs = 0;
  let asked = false;
  await serve((socket, begin) => {
    socket.on('data', (chunk: Buffer) => {
      pongs += [...chunk.toString('latin1').matchAll(/PONG\r\n/g)].length;
    });
    socket.write(`${'PING\r\n'.repeat(5_000)}${begin} 2\r\nhi\r\n`);
    asked = true;
  });
  let received = 0;
  client.subscribe('s', { callback: () => void received++ });
  await eventually(() => expect([asked, received]).toEqual([true, 1]));
  await client.flush();
  expect(pongs).toBeGreaterThan(0);
  expect(pongs).toBeLessThan(50);
});

it('leaves a server that does not read when too much waits for it', async () => {
  await serve((socket) => socket.pause());
  client.subscribe('s', { callback: () => {} });
  await eventually(() => expect([...peer.sockets].some((socket) => socket.isPaused())).toBe(true));
  const published = Buffer.alloc(1 << 20);
  for (let i = 0; i < 64 && !client.isClosed(); i++) {
    client.publish('other', published);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await client.closed()).toMatchObject({ message: expect.stringContaining('does not read') });
});
