/** One instance of a module: exclusively one call's while that runs or waits. */
import { type Exchange, Interrupted } from '../exchange.ts';
import { REFUEL } from './binary/injected.ts';
import type { Hook } from './binary/module-shapes.ts';
import { PluginLoadError } from './binary/plugin-load-error.ts';
import { FUEL } from './binary/rewrite.ts';
import { type Binding, Call, type Holder } from './call/call.ts';
import { failed, logFailure, outcomeOf } from './call/outcome.ts';
import { ANSWERED, type ChunkResult, type Outcome } from './call/plugin.ts';
import { ABI_MODULE, type RuntimeFunctions } from './host/host-functions.ts';
import { exportedFunction, exportedGlobal, exportedTable, ModuleState, type StateLayout } from './module-state.ts';
import type { Snapshot } from './snapshot.ts';

/** State that instances of one module share. */
export interface ModuleCode extends StateLayout {
  readonly module: WebAssembly.Module;
  readonly functions: RuntimeFunctions;
  /** Names of the host functions that it imports. */
  readonly imports: readonly string[];
  /** Exported functions that the host may call. */
  readonly entries: readonly string[];
}

/** Receives an instance when its call is over. */
export interface InstanceOwner extends Holder {
  /** The instance may serve another call. */
  release(instance: Instance): void;
  /** The instance may not serve another call. */
  drop(instance: Instance): void;
}

type Entry = () => number | Promise<number>;
type Observer = (seconds: number) => void;
const ignore: Observer = () => {};

export class Instance {
  readonly call: Call;
  readonly #owner: InstanceOwner;
  readonly #entries: { readonly [name: string]: Entry | undefined };
  readonly #state: ModuleState;
  /** Bytes of memory that the call began with. */
  #size = 0;
  #observe: Observer = ignore;

  /**
   * `direct`: calls are plain ones, which cost half but cannot be suspended: not when a host function has to wait, nor
   * when a slice of CPU time is used up.
   */
  constructor(code: ModuleCode, binding: Binding, owner: InstanceOwner, direct: boolean) {
    const [refuel, wait] = REFUEL.names;
    const call = new Call(binding, !direct, owner);
    const { imports, states } = code.functions.importsFor(code.imports, call);
    const { exports } = new WebAssembly.Instance(code.module, {
      [ABI_MODULE]: imports,
      [REFUEL.module]: { [refuel]: call.refuel, [wait]: new WebAssembly.Suspending(call.nextTurn) },
    });
    const { memory } = exports;
    if (!(memory instanceof WebAssembly.Memory)) throw new PluginLoadError('the module exports no memory');
    call.attach(memory, exportedGlobal(exports, FUEL), states, code.blockBits, exportedTable(exports));
    this.call = call;
    this.#owner = owner;
    this.#state = new ModuleState(exports, call.memory, code);
    this.#entries = Object.fromEntries(
      code.entries.map((name): [string, Entry] => {
        const entry = exportedFunction(exports, name);
        return [name, direct ? entry : WebAssembly.promising(entry)];
      }),
    );
  }

  /** Bytes of memory. */
  get size(): number {
    return this.#state.size;
  }

  /** Takes the state that later calls begin with. */
  snapshot(): Snapshot {
    return this.#state.snapshot();
  }

  /** Puts everything in place for a call from the state of `from` (null: as it is). The clock runs until `finish`. */
  #prepare(
    binding: Binding,
    from: Snapshot | null,
    hook: Hook,
    exchange: Exchange | null,
    chunk: Uint8Array | null,
  ): void {
    const { call } = this;
    call.begin(binding, hook, exchange);
    if (chunk) call.chunk = chunk;
    const fuel = call.clock.start(binding.cpuMs);
    if (from) this.#state.restore(from, fuel);
    else call.burn(-fuel);
    this.#size = from?.size ?? this.size;
  }

  #start(
    name: string,
    binding: Binding,
    from: Snapshot | null,
    hook: Hook,
    exchange: Exchange | null,
    chunk: Uint8Array | null = null,
  ): Promise<number> {
    try {
      this.#prepare(binding, from, hook, exchange, chunk);
      return Promise.resolve(this.#entries[name]?.() ?? 0);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Runs an initialiser or `init`; rejects if it traps. The instance stays the caller's. */
  async initialise(name: string, binding: Binding, from: Snapshot | null): Promise<number> {
    const result = await this.#start(name, binding, from, 'init', null);
    this.call.end();
    return result;
  }

  /** Runs a hook for a request, then returns to its owner. Always ends, at once if the instance is a direct one. */
  run(binding: Binding, from: Snapshot, hook: Hook, exchange: Exchange, observe: Observer): Outcome | Promise<Outcome> {
    this.#observe = observe;
    try {
      this.#prepare(binding, from, hook, exchange, null);
      const result = this.#entries[hook]?.() ?? 0;
      return typeof result === 'number' ? this.#done(result) : result.then(this.#done, this.#failed);
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** Its calls cannot be suspended. */
  get direct(): boolean {
    return !this.call.suspends;
  }

  /** The last call used up a slice of CPU time. */
  get usedUpSlice(): boolean {
    return this.call.clock.usedUpSlice;
  }

  /** Milliseconds of CPU time that the last call took. */
  get cpuMs(): number {
    return this.call.clock.spentMs;
  }

  readonly #done = (result: number): Outcome => {
    try {
      const outcome = outcomeOf(this.call, result);
      this.#finish();
      return outcome;
    } catch (error) {
      return this.#failed(error);
    }
  };

  readonly #failed = (error: unknown): Outcome => {
    failed(this.call, error);
    this.#finish();
    return ANSWERED;
  };

  /** Runs a chunk hook, then goes back to its owner. Rejects if the plugin fails. */
  async pass(
    binding: Binding,
    from: Snapshot,
    hook: Hook,
    exchange: Exchange,
    chunk: Uint8Array | null,
    observe: Observer,
  ): Promise<ChunkResult> {
    this.#observe = observe;
    try {
      const result = await this.#start(hook, binding, from, hook, exchange, chunk);
      const { written } = this.call;
      this.#finish();
      if (result === 0) return null;
      return written?.length === 1 && written[0] ? written[0] : Buffer.concat(written ?? []);
    } catch (error) {
      if (!(error instanceof Interrupted)) logFailure(this.call, error);
      this.#finish();
      throw error;
    }
  }

  /** Restores memory and globals, however the call ended; only growth of memory cannot be undone. */
  #finish(): void {
    this.#observe(this.call.clock.stop() / 1000);
    this.call.end();
    if (this.size === this.#size) this.#owner.release(this);
    else this.#owner.drop(this);
  }
}
