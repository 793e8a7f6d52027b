import { describe, expect, it } from 'vitest';
import { GuestMemory } from './guest-memory.ts';

const PAGES = 2;
const BLOCK_BITS = 10;

/** Returns the addresses that `write` changes in a memory full of ones, and whether their blocks are all noted. */
function changesOf(write: (memory: GuestMemory) => unknown, table: Buffer | null) {
  const memory = new GuestMemory(new WebAssembly.Memory({ initial: PAGES }), () => {}, BLOCK_BITS, table);
  memory.bytes.fill(1);
  write(memory);
  const changed = [...memory.bytes.keys()].filter((address) => memory.bytes[address] !== 1);
  const isNoted = (address: number) => {
    if (table !== null) return table[address >>> BLOCK_BITS] === 1;
    const block = (address >>> BLOCK_BITS) % 64;
    return (((block < 32 ? memory.writtenLow : memory.writtenHigh) >>> (block & 31)) & 1) === 1;
  };
  return { changed: changed.length, noted: changed.every(isNoted) };
}

describe('what the host writes to a plugin', () => {
  it.each<readonly [string, (memory: GuestMemory) => unknown, number]>([
    ['a short text', (memory) => memory.writeText('abc', 1_022, 100), 3],
    ['a long text', (memory) => memory.writeText('x'.repeat(3_000), 100_000, 3_000), 3_000],
    ['a text beyond ASCII', (memory) => memory.writeText('añb', 1_022, 100), 4],
    ['a text whose bytes do not fit, though its characters do', (memory) => memory.writeText('abñ', 40_000, 3), 2],
    ['a part of bytes', (memory) => memory.writeFrom(new Uint8Array(5_000), 1_000, 64_000, 9_000), 4_000],
    ['whole bytes', (memory) => memory.writeWhole(new Uint8Array(70_000), 100, 70_000), 70_000],
    ['bytes that do not fit', (memory) => memory.writeWhole(new Uint8Array(10), 100, 9), 0],
    ['doubles', (memory) => memory.writeDoubles([0, 0], 32_760), 16],
  ])('is noted: %s', (_name, write, changed) => {
    expect(changesOf(write, null)).toEqual({ changed, noted: true });
    expect(changesOf(write, Buffer.alloc((PAGES * 65_536) >> BLOCK_BITS))).toEqual({ changed, noted: true });
  });
});
