/**
 * Chooses the partition of a message: by its key as Java clients do; messages without a key go together by batch, each
 * batch to another partition.
 */
import type { Partition } from './protocol.ts';

export class Partitioner {
  #turn = Math.floor(Math.random() * 1_000);

  /** Returns the choice for a batch. */
  forBatch(partitions: readonly Partition[]): (key: string | null) => number {
    const led = partitions.filter(({ leader }) => leader >= 0);
    const among = led.length > 0 ? led : partitions;
    const any = among[this.#turn++ % among.length]?.index ?? 0;
    return (key) => (key === null ? any : (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions.length);
  }
}

/** Factors and shift of MurmurHash2. */
const [FACTOR, SHIFT, SEED] = [0x5bd1e995, 24, 0x9747b28c];

function murmur2(key: Buffer): number {
  let hash = SEED ^ key.length;
  let at = 0;
  for (; at + 4 <= key.length; at += 4) {
    const mixed = Math.imul(key.readInt32LE(at), FACTOR);
    hash = Math.imul(hash, FACTOR) ^ Math.imul(mixed ^ (mixed >>> SHIFT), FACTOR);
  }
  if (at < key.length) hash = Math.imul(hash ^ key.readUIntLE(at, key.length - at), FACTOR);
  hash = Math.imul(hash ^ (hash >>> 13), FACTOR);
  return hash ^ (hash >>> 15);
}
