import type { Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { MisbehavingPeer } from '../../../../../test/misbehaving-peer.ts';
import { EgressGuard } from '../../../../src/egress/guard.ts';
import { INIT_PRODUCER_ID } from './protocol.ts';
import { VettedConnection } from './vetted-connection.ts';

const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
const options = { guard, secureContext: null, sasl: null };

/** Bytes of an answer to request `correlation`: no error, and an empty list, which is one of no versions, or a producer. */
const answer = (correlation: number) => Buffer.from([0, 0, 0, 20, 0, 0, 0, correlation, ...Buffer.alloc(16)]);

let peer: MisbehavingPeer;
let connection: VettedConnection;
afterEach(() => {
  connection?.close();
  peer.close();
});

async function open(serve: (socket: Socket) => void): Promise<VettedConnection> {
  peer = await MisbehavingPeer.start(serve);
  connection = await VettedConnection.open({ host: '127.0.0.1', port: peer.port }, options);
  return connection;
}

it('sends requests that are made in one turn', async () => {
  let requests = 0;
  await open((broker) =>
    broker.on('data', (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += 4 + chunk.readInt32BE(at)) broker.write(answer(++requests));
    }),
  );
  const all = Array.from({ length: 3 }, () => connection.request(INIT_PRODUCER_ID, null));
  expect(await Promise.all(all)).toEqual(Array(3).fill({ id: 0n, epoch: 0 }));
  expect(requests).toBe(4);
});

it('ends if the broker answers more often than it is asked', async () => {
  await open((broker) => {
    broker.once('data', () => {
      broker.write(answer(1));
      broker.once('data', () => broker.write(Buffer.concat([answer(2), answer(3)])));
    });
  });
  await connection.request(INIT_PRODUCER_ID, null);
  expect(connection.isUsable).toBe(false);
  await expect(connection.request(INIT_PRODUCER_ID, null)).rejects.toThrow('the broker answers more than it is asked');
});
