import { duplexPair } from 'node:stream';
import { expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { readInTurns, slicesInTurns } from './read-in-turns.ts';

const COUNT = 40;
const CHUNK = Buffer.from(Array.from({ length: 16 << 10 }, (_, i) => i % 251));
const ALL = Buffer.concat(Array.from({ length: COUNT }, () => CHUNK));

/** Longer than a turn may take. */
function work(): void {
  for (const until = performance.now() + 3; performance.now() < until; );
}

/** Counts what is done in each turn of the event loop. */
class TurnCount {
  #inTurn = 0;
  most = 0;

  add(): void {
    if (this.#inTurn++ === 0) setImmediate(() => (this.#inTurn = 0));
    this.most = Math.max(this.most, this.#inTurn);
  }
}

it.each([
  { what: 'slices', sliceBytes: 4 << 10 },
  { what: 'whole chunks', sliceBytes: undefined },
])('gives others their turns between $what that take long, and reads all in order', async ({ sliceBytes }) => {
  const [near, far] = duplexPair();
  const turns = new TurnCount();
  const slices: Buffer[] = [];
  readInTurns(far, {
    ...(sliceBytes === undefined ? {} : { sliceBytes }),
    read(slice) {
      turns.add();
      slices.push(slice);
      work();
    },
    readOn: () => far.resume(),
  });
  far.resume();
  for (let i = 0; i < COUNT; i++) near.write(CHUNK);
  await eventually(() => expect(slices.reduce((sum, { length }) => sum + length, 0)).toBe(ALL.length));
  expect(Buffer.concat(slices).equals(ALL)).toBe(true);
  expect(turns.most).toBeLessThanOrEqual(2);
});

it('reads no more while the reader has paused the stream', async () => {
  const [near, far] = duplexPair();
  let slices = 0;
  readInTurns(far, {
    sliceBytes: 1_000,
    read: () => {
      if (++slices === 3) far.pause();
    },
    readOn: () => far.resume(),
  });
  far.resume();
  near.write(CHUNK);
  await eventually(() => expect(slices).toBe(3));
  await new Promise((resolve) => setImmediate(resolve));
  expect(slices).toBe(3);
  far.resume();
  await eventually(() => expect(slices).toBe(Math.ceil(CHUNK.length / 1_000)));
});

it('gives others their turns between slices that are iterated', async () => {
  const turns = new TurnCount();
  const slices: Uint8Array[] = [];
  for await (const slice of slicesInTurns(ALL)) {
    turns.add();
    slices.push(slice);
    work();
  }
  expect(Buffer.concat(slices).equals(ALL)).toBe(true);
  expect(turns.most).toBeLessThanOrEqual(2);
});
