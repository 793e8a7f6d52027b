/**
 * Modules of the gateway itself that work on data of strangers. They run as plugins do: metered, in slices between which
 * other requests run, with memory that is put back after each call. Such a module takes and returns frames of bytes: it
 * exports `input(length) -> pointer`, entries `() -> length`, and `output() -> pointer`.
 */
import { REFUEL } from './binary/injected.ts';
import { FUEL } from './binary/rewrite.ts';
import type { MeteredModule } from './binary/types.ts';
import { CpuClock } from './call/cpu.ts';
import { GuestMemory } from './call/guest-memory.ts';
import { account, isBusy, nextTurn } from './call/turns.ts';
import { compileModule } from './compile-module.ts';
import { meteredModule } from './metered-modules.ts';
import { exportedFunction, exportedGlobal, exportedTable, ModuleState } from './module-state.ts';
import type { Snapshot } from './snapshot.ts';

/** Fuel for making room for a frame, which cannot be suspended: it copies nothing but that. */
const ROOM_FUEL = 2 ** 30;
const INITIALIZE = '_initialize';

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
  readonly #state: ModuleState;
  readonly #entries = new Map<string, () => Promise<number>>();
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
    this.#memory = new GuestMemory(memory, () => {}, metered.blockBits, exportedTable(exports));
    this.#fuel = exportedGlobal(exports, FUEL);
    this.#state = new ModuleState(exports, this.#memory, metered);
  }

  /** Bytes of memory. */
  get size(): number {
    return this.#state.size;
  }

  /** Takes the state that later calls begin with. */
  snapshot(): Snapshot {
    return this.#state.snapshot();
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
    if (from === null) this.#fuel.value = ROOM_FUEL;
    else this.#state.restore(from, ROOM_FUEL);
    const pointer = exportedFunction(this.#exports, 'input')(frame.length);
    this.#memory.writeFrom(frame, 0, pointer, frame.length);
    const { length, cpuMs } = await this.#run(entry, limits);
    return { bytes: this.#memory.copy(exportedFunction(this.#exports, 'output')(), length), cpuMs };
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
    const known = this.#entries.get(name) ?? WebAssembly.promising(exportedFunction(this.#exports, name));
    this.#entries.set(name, known);
    return known;
  }
}
