/** The state of an instance that every call begins with: its memory and its mutable globals. */
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

  constructor(memory: GuestMemory, globals: readonly WebAssembly.Global[]) {
    const { bytes } = memory;
    let end = bytes.length;
    while (end >= ZEROS.length && bytes.subarray(end - ZEROS.length, end).equals(ZEROS)) end -= ZEROS.length;
    while (end > 0 && bytes[end - 1] === 0) end--;
    this.#bytes = Buffer.from(bytes.subarray(0, end));
    this.size = bytes.length;
    this.#state = [0, ...globals.map(({ value }) => value)];
  }

  /** Puts an instance's memory of the same size, and through `enter` its fuel and globals, to this state. */
  restore(memory: GuestMemory, enter: (...state: (number | bigint)[]) => void, fuel: number): void {
    const { bytes } = memory;
    bytes.set(this.#bytes);
    // The language's own fill: Buffer's does much more before it comes to that.
    fill.call(bytes, 0, this.#bytes.length);
    this.#state[0] = fuel;
    enter.apply(undefined, this.#state);
  }
}
