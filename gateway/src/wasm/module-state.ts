/** The state of an instance, which snapshots are taken of and put back to. */
import { PluginLoadError } from './binary/plugin-load-error.ts';
import { ENTER, GLOBAL, TABLE, WRITTEN } from './binary/rewrite.ts';
import type { MutableGlobal } from './binary/types.ts';
import type { GuestMemory } from './call/guest-memory.ts';
import { Snapshot } from './snapshot.ts';

const PAGE = 65_536;

type Exports = WebAssembly.Instance['exports'];

/** What rewriting notes of a module. */
export interface StateLayout {
  readonly mutableGlobals: readonly MutableGlobal[];
  /** Binary logarithm of the size of the blocks of memory that are noted when they are written to. */
  readonly blockBits: number;
}

export class ModuleState {
  readonly #memory: GuestMemory;
  readonly #enter: (...state: (number | bigint)[]) => void;
  /** Returns bits of the blocks of memory that the module has written to since it was entered. */
  readonly #written: (half: number) => number;
  readonly #globals: readonly WebAssembly.Global[];
  readonly #blockBits: number;
  /** State that memory equals, except for blocks that were written to; null: unknown. */
  #restored: Snapshot | null = null;

  /** Throws PluginLoadError if the module was not rewritten. */
  constructor(exports: Exports, memory: GuestMemory, { mutableGlobals, blockBits }: StateLayout) {
    this.#memory = memory;
    this.#enter = exportedFunction(exports, ENTER);
    this.#written = exportedFunction(exports, WRITTEN);
    this.#globals = mutableGlobals.map(({ index }) => exportedGlobal(exports, GLOBAL + index));
    this.#blockBits = blockBits;
  }

  /** Bytes of memory. */
  get size(): number {
    return this.#memory.bytes.length;
  }

  /** Takes the state that later calls begin with. */
  snapshot(): Snapshot {
    return new Snapshot(this.#memory, this.#globals);
  }

  /** Puts the instance to the state of a snapshot, with so much fuel. */
  restore(from: Snapshot, fuel: number): void {
    const memory = this.#memory;
    if (from.size > this.size) memory.grow((from.size - this.size) / PAGE);
    if (this.#restored !== from) {
      from.restore(memory);
      this.#restored = from;
    } else if (memory.table !== null) {
      from.restoreTable(memory, memory.table, this.#blockBits);
    } else {
      const low = this.#written(0) | memory.writtenLow;
      from.restoreWritten(memory, low, this.#written(1) | memory.writtenHigh, this.#blockBits);
    }
    memory.forgetWritten();
    from.enter(this.#enter, fuel);
  }
}

/** Throws PluginLoadError if there is no such export. */
export function exportedGlobal(exports: Exports, name: string): WebAssembly.Global {
  const value = exports[name];
  if (!(value instanceof WebAssembly.Global)) throw new PluginLoadError(`the module exports no global ${name}`);
  return value;
}

/** Returns the table of blocks that were written to, if the module has one. */
export function exportedTable(exports: Exports): Buffer | null {
  const table = exports[TABLE];
  return table instanceof WebAssembly.Memory ? Buffer.from(table.buffer) : null;
}

export function exportedFunction(exports: Exports, name: string): (...args: (number | bigint)[]) => number {
  const value = exports[name];
  if (!isFunction(value)) throw new PluginLoadError(`the module exports no function ${name}`);
  return value;
}

function isFunction(value: unknown): value is (...args: (number | bigint)[]) => number {
  return typeof value === 'function';
}
