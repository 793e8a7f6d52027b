import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mutated } from '../../../../../test/mutations.ts';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { batchesOf, type FetchedBatch } from './fetched-messages.ts';
import { batchOf } from './record-writer.ts';

/** A batch from this offset on. */
function batch(first: number, values: readonly string[]): Buffer {
  const messages = values.map((value, i) => ({
    topic: 't',
    key: i % 2 === 0 ? `k${i}` : null,
    payload: Buffer.from(value),
    headers: [
      ['a', '1'],
      ['a', value],
    ] as const,
  }));
  const bytes = batchOf(messages, { id: 7n, epoch: 0 }, 0, 1_000);
  bytes.writeBigInt64BE(BigInt(first));
  return bytes;
}

async function read(records: Buffer, aborted: { producer: bigint; first: number }[] = []): Promise<FetchedBatch[]> {
  return Array.fromAsync(batchesOf({ index: 0, aborted, records }));
}

it('reads batches with their offsets, times, keys and headers, up to one that is cut off', async () => {
  const bytes = Buffer.concat([batch(5, ['x', 'y']), batch(9, ['z'])]);
  const [first, second, ...others] = await read(Buffer.concat([bytes, batch(10, ['cut']).subarray(0, -1)]));
  expect(others).toEqual([]);
  expect([first?.first, first?.last, second?.first, second?.last]).toEqual([5, 6, 9, 9]);
  expect(
    first?.records?.map(({ offset, timestamp, key, value }) => [offset, timestamp, String(key), String(value)]),
  ).toEqual([
    [5, 1_000, 'k0', 'x'],
    [6, 1_000, 'null', 'y'],
  ]);
  expect(second?.records?.[0]?.headers.map(([name, value]) => [name, String(value)])).toEqual([
    ['a', '1'],
    ['a', 'z'],
  ]);
});

it('has no records of a batch that unpacks to too much, or says that it has too many', async () => {
  const bomb = batch(1, ['x']);
  bomb.writeInt16BE(1, 21);
  const packed = Buffer.concat([bomb.subarray(0, 61), gzipSync(Buffer.alloc(65 << 20))]);
  packed.writeInt32BE(packed.length - 12, 8);
  const many = batch(2, ['x']);
  many.writeInt32BE(200_001, 57);
  const other = batch(3, ['x']);
  other[16] = 1;
  const all = await read(Buffer.concat([packed, many, other, batch(4, ['y'])]));
  expect(all.map(({ first, last, records }) => [first, last, records?.length])).toEqual([
    [1, 1, undefined],
    [2, 2, undefined],
    [3, 3, undefined],
    [4, 4, 1],
  ]);
});

it('survives batches that are nearly right, in time', async () => {
  const tokens = ['\x7f\xff\xff\xff', '\xff\xff\xff\xff', '\x80\x80\x80\x80\x80', '\0'];
  const nearly = mutated([Buffer.concat([batch(0, ['x', 'y']), batch(2, ['z'])])], tokens);
  await fc.assert(
    fc.asyncProperty(nearly, async (bytes) => {
      const found = await read(bytes).catch((error: unknown) => error);
      if (!(found instanceof RangeError)) expect(found).toHaveProperty('length', expect.toBeOneOf([0, 1, 2, 3]));
    }),
    propertyRuns(300),
  );
  const endless = batch(0, ['x'.repeat(1 << 20)]);
  endless.fill(0x80, 61);
  expect((await read(endless))[0]?.records).toBe(null);
});
