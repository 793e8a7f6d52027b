import { expect, it } from 'vitest';
import { Partitioner } from './partitioner.ts';

const partitions = Array.from({ length: 1_000 }, (_, index) => ({ index, leader: index % 2 === 0 ? 1 : -1 }));

it.each([
  // Hashes of Kafka's own UtilsTest.
  ['21', -973_932_308],
  ['foobar', -790_332_482],
  ['a-little-bit-long-string', -985_981_536],
  ['a-little-bit-longer-string', -1_486_304_829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58_897_971],
  ['abc', 479_470_107],
])('chooses for the key "%s" as Java clients do', (key, hash) => {
  const choose = new Partitioner().forBatch(partitions);
  expect(choose(key)).toBe((hash & 0x7fffffff) % 1_000);
});

it('keeps messages without a key together, each batch in another partition that has a leader', () => {
  const partitioner = new Partitioner();
  const [first, second] = [partitioner.forBatch(partitions), partitioner.forBatch(partitions)];
  expect(first(null)).toBe(first(null));
  expect(second(null)).not.toBe(first(null));
  for (const choose of [first, second]) expect(partitions[choose(null)]?.leader).toBe(1);
});
