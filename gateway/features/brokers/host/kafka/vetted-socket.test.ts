import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../../../../../test/eventually.ts';
import { MisbehavingPeer } from '../../../../../test/misbehaving-peer.ts';
import { EgressGuard } from '../../../../src/egress/guard.ts';
import { VettedSocket } from './vetted-socket.ts';

const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
const ANSWER = Buffer.from([0, 0, 0, 4, 0, 0, 0, 1]);

let peer: MisbehavingPeer;
let socket: VettedSocket;
afterEach(() => {
  socket.destroy();
  peer.close();
});

async function connected(serve: (socket: Socket) => void): Promise<VettedSocket> {
  peer = await MisbehavingPeer.start(serve);
  await new Promise<void>((resolve, reject) => {
    socket = new VettedSocket('127.0.0.1', peer.port, { guard, timeoutMs: 10_000, secureContext: null }, resolve);
    socket.once('error', reject);
  });
  return socket;
}

it('sends requests that are made in one turn', async () => {
  let received = '';
  const client = await connected((broker) => broker.on('data', (chunk) => (received += chunk)));
  for (const request of ['one', 'two', 'three']) client.write(Buffer.from(request));
  await eventually(() => expect(received).toBe('onetwothree'));
});

it('ends if the broker answers more often than it is asked', async () => {
  const client = await connected((broker) => {
    broker.write(ANSWER);
    broker.once('data', () => broker.write(Buffer.concat([ANSWER, ANSWER])));
  });
  client.resume();
  client.write(Buffer.from('one'));
  const [error] = await once(client, 'error');
  expect(error).toMatchObject({ message: 'the broker answers more than it is asked' });
});
