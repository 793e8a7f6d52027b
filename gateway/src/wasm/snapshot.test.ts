import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { STORE_REACH, WRITTEN_BITS } from './binary/written.ts';
import { GuestMemory } from './call/guest-memory.ts';
import { Snapshot } from './snapshot.ts';

const PAGE = 65_536;
const BLOCK_BITS = 10;
const BLOCKS = (2 * PAGE) >> BLOCK_BITS;

function memoryOf(pages: number, table: Buffer | null = null): GuestMemory {
  return new GuestMemory(new WebAssembly.Memory({ initial: pages }), () => {}, BLOCK_BITS, table);
}

describe('a snapshot', () => {
  it('restores blocks that were written to, those that share a bit, and what a store reaches behind them', () => {
    const memory = memoryOf(2);
    // The rest of the memory is zero.
    memory.bytes.fill(7, 0, 90_000);
    const snapshot = new Snapshot(memory, []);
    const pristine = Buffer.from(memory.bytes);
    const written = fc.uniqueArray(fc.nat(BLOCKS - 1), { maxLength: BLOCKS });
    fc.assert(
      fc.property(written, (blocks) => {
        const bits = [0, 0];
        for (const block of blocks) {
          const end = ((block + 1) << BLOCK_BITS) + STORE_REACH;
          memory.bytes.fill(9, block << BLOCK_BITS, Math.min(end, memory.bytes.length));
          const bit = block % WRITTEN_BITS;
          bits[bit >> 5] = (bits[bit >> 5] ?? 0) | (1 << (bit & 31));
        }
        const [low = 0, high = 0] = bits;
        snapshot.restoreWritten(memory, low, high, BLOCK_BITS);
        expect(memory.bytes.equals(pristine)).toBe(true);
      }),
      propertyRuns(200),
    );
    snapshot.restoreWritten(memory, 0, 0, BLOCK_BITS);
    memory.bytes.fill(9);
    snapshot.restoreWritten(memory, -1, -1, BLOCK_BITS);
    expect(memory.bytes.equals(pristine)).toBe(true);
  });

  it('restores blocks that a table notes, and what a store reaches behind them', () => {
    const table = Buffer.alloc(2 * BLOCKS);
    const memory = memoryOf(2, table);
    memory.bytes.fill(7, 0, 90_000);
    const snapshot = new Snapshot(memory, []);
    const pristine = Buffer.from(memory.bytes);
    // Memory that a call has added is no part of the state.
    const written = fc.uniqueArray(fc.nat(BLOCKS + 1), { maxLength: BLOCKS });
    fc.assert(
      fc.property(written, (blocks) => {
        for (const block of blocks) {
          const end = ((block + 1) << BLOCK_BITS) + STORE_REACH;
          memory.bytes.fill(9, block << BLOCK_BITS, Math.min(end, memory.bytes.length));
          table[block] = 1;
        }
        snapshot.restoreTable(memory, table, BLOCK_BITS);
        memory.forgetWritten();
        expect(memory.bytes.equals(pristine)).toBe(true);
      }),
      propertyRuns(200),
    );
  });

  it('restores the whole memory of an instance that it does not know', () => {
    const memory = memoryOf(1);
    memory.bytes.fill(7, 10, 20);
    const snapshot = new Snapshot(memory, []);
    const other = memoryOf(1);
    other.bytes.fill(9);
    snapshot.restore(other);
    expect(other.bytes.equals(memory.bytes)).toBe(true);
  });
});
