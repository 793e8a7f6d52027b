/**
 * Modules of the gateway itself that work on data of strangers. They run as plugins do: metered, in slices between which
 * other requests run, with memory that is put back after each call. Such a module takes and returns frames of bytes: it
 * exports `input(length) -> pointer`, entries `() -> length`, and `output() -> pointer`.
 */
import { REFUEL } from './binary/injected.ts';
import { ENTER, FUEL, GLOBAL, WRITTEN } from './binary/rewrite.ts';
import type { MeteredModule } from './binary/types.ts';
import { CpuClock } from './call/cpu.ts';
import { GuestMemory } from './call/guest-memory.ts';
import { account, isBusy, nextTurn } from './call/turns.ts';
import { compileModule } from './compile-module.ts';
import { meteredModule } from './metered-modules.ts';
import { Snapshot } from './snapshot.ts';

/** Fuel for making room for a frame, which cannot be suspended: it copies nothing but that. */
const ROOM_FUEL = 2 ** 30;
const INITIALIZE = '_initialize';
const PAGE = 65_536;

export interface HostModuleOptions {
  /** Most bytes of memory of an instance. */
  readonly memoryBytes: number;
  /** Imports besides those that metering adds, by module. */
  readonly imports: Readonly<Record<string, Readonly<Record<string, (...args: number[]) => number>>>>;
}

/** A compiled module. */
export class HostModule {
  readonly #metered: MeteredModule;
  readonly #module: WebAssembly.Module;
  readonly #options: HostModuleOptions;

  private constructor(metered: MeteredModule, module: WebAssembly.Module, options: HostModuleOptions) {
    this.#metered = metered;
    this.#module = module;
    this.#options = options;
  }

  /** Rejects with PluginLoadError if the module is not valid. */
  static async compile(wasm: Uint8Array, options: HostModuleOptions): Promise<HostModule> {
    const metered = meteredModule(wasm, options.memoryBytes);
    return new HostModule(metered, await compileModule(metered.bytes), options);
  }

  instantiate(): HostInstance {
    const started = performance.now();
    const instance = new HostInstance(this.#module, this.#metered, this.#options.imports);
    account(performance.now() - started);
    return instance;
  }
}

export interface FrameCall {
  /** Milliseconds of CPU time. */
  readonly cpuMs: number;
  /** Called at the end of each slice: throws if the result is no longer wanted. */
  check(): void;
}

interface FrameResult {
  readonly bytes: Buffer;
  /** Milliseconds of CPU time that the call took. */
  readonly cpuMs: number;
}

/** An instance: one call's at a time. */
export class HostInstance {
  readonly #clock = new CpuClock();
  readonly #memory: GuestMemory;
  readonly #exports: WebAssembly.Instance['exports'];
  readonly #fuel: WebAssembly.Global;
  readonly #globals: readonly WebAssembly.Global[];
  readonly #blockBits: number;
  readonly #entries = new Map<string, () => Promise<number>>();
  /** State that memory equals, except for blocks that were written to; null: unknown. */
  #restored: Snapshot | null = null;
  #check: () => void = () => {};

  constructor(module: WebAssembly.Module, metered: MeteredModule, imports: HostModuleOptions['imports']) {
    const [refuel, wait] = REFUEL.names;
    const { exports } = new WebAssembly.Instance(module, {
      ...imports,
      [REFUEL.module]: {
        [refuel]: () => this.#clock.refuel(this.#check, true),
        [wait]: new WebAssembly.Suspending(() => this.#clock.wait(this.#check)),
      },
    });
    const { memory } = exports;
    if (!(memory instanceof WebAssembly.Memory)) throw new Error('the module exports no memory');
    this.#exports = exports;
    this.#memory = new GuestMemory(memory, () => {}, metered.blockBits);
    this.#blockBits = metered.blockBits;
    this.#fuel = this.#global(FUEL);
    this.#globals = metered.mutableGlobals.map(({ index }) => this.#global(GLOBAL + index));
  }

  /** Bytes of memory. */
  get size(): number {
    return this.#memory.bytes.length;
  }

  /** Takes the state that later calls begin with. */
  snapshot(): Snapshot {
    return new Snapshot(this.#memory, this.#globals);
  }

  /** Runs the initialisers of the toolchain. */
  async initialise(limits: FrameCall): Promise<void> {
    if (this.#exports[INITIALIZE] !== undefined) await this.#run(INITIALIZE, limits);
  }

  /**
   * Runs an entry from the state of `from`, or as the last call has left it. Rejects with CpuExceeded, with what `check`
   * throws, and with WebAssembly.RuntimeError for a trap.
   */
  async call(from: Snapshot | null, entry: string, frame: Uint8Array, limits: FrameCall): Promise<FrameResult> {
    if (isBusy()) await nextTurn();
    limits.check();
    this.#restore(from);
    this.#fuel.value = ROOM_FUEL;
    const pointer = this.#function('input')(frame.length);
    this.#memory.writeFrom(frame, 0, pointer, frame.length);
    const { length, cpuMs } = await this.#run(entry, limits);
    return { bytes: this.#memory.copy(this.#function('output')(), length), cpuMs };
  }

  async #run(entry: string, { cpuMs, check }: FrameCall): Promise<{ readonly length: number; readonly cpuMs: number }> {
    this.#check = check;
    this.#fuel.value = this.#clock.start(cpuMs);
    try {
      const length = await this.#entry(entry)();
      return { length, cpuMs: this.#clock.stop() };
    } catch (error) {
      this.#clock.stop();
      throw error;
    } finally {
      this.#fuel.value = ROOM_FUEL;
    }
  }

  #entry(name: string): () => Promise<number> {
    const known = this.#entries.get(name) ?? WebAssembly.promising(this.#function(name));
    this.#entries.set(name, known);
    return known;
  }

  #restore(from: Snapshot | null): void {
    if (from === null) return;
    const memory = this.#memory;
    if (from.size > this.size) memory.grow((from.size - this.size) / PAGE);
    if (this.#restored === from) {
      const written = this.#function(WRITTEN);
      const low = written(0) | memory.writtenLow;
      from.restoreWritten(memory, low, written(1) | memory.writtenHigh, this.#blockBits);
    } else {
      from.restore(memory);
      this.#restored = from;
    }
    memory.forgetWritten();
    from.enter(this.#function(ENTER), ROOM_FUEL);
  }

  #global(name: string): WebAssembly.Global {
    const value = this.#exports[name];
    if (value instanceof WebAssembly.Global) return value;
    throw new Error(`the module exports no global ${name}`);
  }

  #function(name: string): (...args: (number | bigint)[]) => number {
    const value = this.#exports[name];
    if (isFunction(value)) return value;
    throw new Error(`the module exports no function ${name}`);
  }
}

function isFunction(value: unknown): value is (...args: (number | bigint)[]) => number {
  return typeof value === 'function';
}
