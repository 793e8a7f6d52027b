/** The state of an instance that every call begins with: its memory and its mutable globals. */
import { STORE_REACH, WRITTEN_BITS } from './binary/written.ts';
import { ConstantTexts } from './call/constant-texts.ts';
import type { GuestMemory } from './call/guest-memory.ts';

const { fill } = Uint8Array.prototype;
/** Compared in blocks, megabytes of them take a millisecond. */
const ZEROS = Buffer.alloc(65_536);

export class Snapshot {
  /** Memory up to the last byte that is not zero. */
  readonly #bytes: Buffer;
  /** Bytes of memory. */
  readonly size: number;
  /** Arguments of `gw:enter`: the fuel, then the globals. */
  readonly #state: (number | bigint)[];
  readonly #constants: ConstantTexts;

  constructor(memory: GuestMemory, globals: readonly WebAssembly.Global[]) {
    const { bytes } = memory;
    let end = bytes.length;
    while (end >= ZEROS.length && bytes.subarray(end - ZEROS.length, end).equals(ZEROS)) end -= ZEROS.length;
    while (end > 0 && bytes[end - 1] === 0) end--;
    this.#bytes = Buffer.from(bytes.subarray(0, end));
    this.size = bytes.length;
    this.#constants = new ConstantTexts(this.#bytes);
    this.#state = [0, ...globals.map(({ value }) => value)];
  }

  /** Puts an instance's fuel and globals to this state through `enter`. */
  enter(enter: (...state: (number | bigint)[]) => void, fuel: number): void {
    this.#state[0] = fuel;
    enter.apply(undefined, this.#state);
  }

  /** Puts an instance's memory of the same size to this state. */
  restore(memory: GuestMemory): void {
    const { bytes } = memory;
    this.#restoreRange(bytes, 0, this.#bytes.length);
    // Memory that is zero is only read, so that the operating system need not provide it.
    for (let start = this.#bytes.length; start < this.size; start += ZEROS.length) {
      const part = bytes.subarray(start, Math.min(start + ZEROS.length, this.size));
      if (!part.equals(ZEROS.subarray(0, part.length))) fill.call(part, 0);
    }
    memory.constants = this.#constants;
  }

  /**
   * Like `restore`, for memory that differs from this state only in blocks that were written to. `low`, `high`: their
   * bits; `blockBits`: the binary logarithm of their size.
   */
  restoreWritten(memory: GuestMemory, low: number, high: number, blockBits: number): void {
    const { bytes } = memory;
    this.#restoreRuns(bytes, low, 0, blockBits);
    this.#restoreRuns(bytes, high, 32, blockBits);
  }

  /** Like `restoreWritten`, for blocks that a table notes. */
  restoreTable(memory: GuestMemory, table: Buffer, blockBits: number): void {
    const { bytes } = memory;
    const blocks = table.subarray(0, this.size >>> blockBits);
    for (let first = blocks.indexOf(1); first !== -1; ) {
      const next = blocks.indexOf(0, first);
      const end = next === -1 ? blocks.length : next;
      this.#restoreRange(bytes, first << blockBits, Math.min((end << blockBits) + STORE_REACH, this.size));
      first = blocks.indexOf(1, end);
    }
  }

  /** Restores the blocks of 32 bits, neighbours together; `first`: block of the lowest bit. */
  #restoreRuns(bytes: Buffer, bits: number, first: number, blockBits: number): void {
    for (let left = bits; left !== 0; ) {
      const from = 31 - Math.clz32(left & -left);
      const others = ~(left >>> from);
      const count = others === 0 ? 32 : 31 - Math.clz32(others & -others);
      this.#restoreBlocks(bytes, (first + from) << blockBits, (count << blockBits) + STORE_REACH, blockBits);
      if (from + count >= 32) return;
      left &= -1 << (from + count);
    }
  }

  /** Restores a range, and those that share its bits. */
  #restoreBlocks(bytes: Buffer, start: number, length: number, blockBits: number): void {
    const step = WRITTEN_BITS << blockBits;
    for (let from = start; from < this.size; from += step) {
      this.#restoreRange(bytes, from, Math.min(from + length, this.size));
    }
  }

  #restoreRange(bytes: Buffer, start: number, end: number): void {
    const known = this.#bytes;
    if (start < known.length) bytes.set(known.subarray(start, end), start);
    // The language's own fill: Buffer's does much more before it comes to that.
    if (end > known.length) fill.call(bytes, 0, Math.max(start, known.length), end);
  }
}
