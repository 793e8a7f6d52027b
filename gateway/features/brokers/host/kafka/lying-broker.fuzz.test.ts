/** A producer before a broker whose answers are nearly right: whatever comes, only this connection fails. */
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MisbehavingPeer, publishedTo } from '../../../../../test/misbehaving-peer.ts';
import { mutated } from '../../../../../test/mutations.ts';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { EgressGuard } from '../../../../src/egress/guard.ts';
import { KafkaProducer } from './kafka-producer.ts';

const PRODUCE = 0;
const METADATA = 3;
const API_VERSIONS = 18;
const INIT_PRODUCER_ID = 22;

const int16 = (value: number) => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const text = (value: string) => Buffer.concat([int16(value.length), Buffer.from(value)]);
const list = (...items: Buffer[]) => Buffer.concat([int32(items.length), ...items]);
const long = Buffer.alloc(8);

/** Behind the correlation id, in the versions that API_VERSIONS offers (kafka.apache.org/protocol). */
function answers(port: number): ReadonlyMap<number, Buffer> {
  const offered = [PRODUCE, METADATA, API_VERSIONS, INIT_PRODUCER_ID];
  const most = new Map([
    [PRODUCE, 3],
    [METADATA, 4],
  ]);
  const range = (api: number) => Buffer.concat([int16(api), int16(0), int16(most.get(api) ?? 0)]);
  const broker = Buffer.concat([int32(1), text('127.0.0.1'), int32(port), int16(-1)]);
  const partition = Buffer.concat([int16(0), int32(0), int32(1), list(int32(1)), list(int32(1))]);
  const topic = Buffer.concat([int16(0), text('t'), Buffer.from([0]), list(partition)]);
  const stored = Buffer.concat([int32(0), int16(0), long, long]);
  return new Map([
    [API_VERSIONS, Buffer.concat([int16(0), list(...offered.map(range))])],
    [METADATA, Buffer.concat([int32(0), list(broker), int16(-1), int32(1), list(topic)])],
    [INIT_PRODUCER_ID, Buffer.concat([int32(0), int16(0), long, int16(0)])],
    [PRODUCE, Buffer.concat([list(Buffer.concat([text('t'), list(stored)])), int32(0)])],
  ]);
}

/** Of one connection after the other. */
interface Lie {
  /** Whose answer is changed. */
  readonly api: number;
  readonly answer: Buffer;
  /** What the frame says of its own length, beside the truth. */
  readonly lengthOff: number;
  readonly correlationOff: number;
  isTold?: true;
}
const HONEST: Lie = { api: -1, answer: Buffer.alloc(0), lengthOff: 0, correlationOff: 0 };

let peer: MisbehavingPeer;
let lie = HONEST;

function respond(socket: Socket, request: Buffer): void {
  const api = request.readInt16BE(0);
  const isLie = api === lie.api;
  const body = isLie ? lie.answer : (answers(peer.port).get(api) ?? Buffer.alloc(0));
  const correlation = request.readInt32BE(4) + (isLie ? lie.correlationOff : 0);
  socket.write(Buffer.concat([int32(4 + body.length + (isLie ? lie.lengthOff : 0)), int32(correlation | 0), body]));
  if (isLie) lie.isTold = true;
  // What waits for more would wait for long.
  if (isLie && (lie.lengthOff !== 0 || lie.correlationOff !== 0)) socket.end();
}

/** Answers what comes, whole request after whole request. */
function serve(socket: Socket): void {
  let held: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 4 && held.length >= 4 + held.readInt32BE(0)) {
      const size = held.readInt32BE(0);
      respond(socket, held.subarray(4, 4 + size));
      held = held.subarray(4 + size);
    }
  });
}

beforeAll(async () => {
  peer = await MisbehavingPeer.start(serve);
});
afterAll(() => peer?.close());

const brokers = () => ({ brokers: [peer.address], sasl: null, tls: null });
const MESSAGE = { topic: 't', key: null, headers: [], payload: Buffer.from('{}') };
const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });

const publish = () => publishedTo(peer, KafkaProducer.open(brokers(), guard), MESSAGE);

it('has its message stored by an honest one', async () => {
  lie = HONEST;
  expect(await publish()).toBe('stored');
});

it('has its message stored where the first answer breaks off, by the same connection', async () => {
  const connection = await KafkaProducer.open(brokers(), guard);
  lie = { api: PRODUCE, answer: Buffer.alloc(4), lengthOff: 8, correlationOff: 0 };
  const stored = connection.publish(MESSAGE);
  await expect.poll(() => lie.isTold).toBe(true);
  lie = HONEST;
  expect(await stored).toEqual({ partition: 0, offset: 0 });
  connection.close();
});

it('survives answers that are nearly right', async () => {
  const outcomes = new Map<string, number>();
  const originals = [...answers(peer.port)];
  const tokens = ['\x7f\xff\xff\xff', '\xff\xff\xff\xff', '\0', '\0\x2a'];
  const changed = fc
    .constantFrom(...originals)
    .chain(([api, original]) => mutated([original], tokens).map((answer) => ({ api, answer })));
  const off = fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -40, max: 40 }) },
  );
  await fc.assert(
    fc.asyncProperty(changed, off, off, async (one, lengthOff, correlationOff) => {
      lie = { ...one, lengthOff, correlationOff };
      const outcome = await publish();
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }),
    propertyRuns(60),
  );
  process.stdout.write(`${JSON.stringify([...outcomes])}\n`);
  lie = HONEST;
  expect(await publish()).toBe('stored');
});
