/** Rule sets that the engine has loaded, by the hash of their rules: configs and artifacts with equal rules share one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FrameCall, type HostInstance, HostModule, type Snapshot } from '../../kit.ts';
import { decodeProgram } from '../seclang/program-format.ts';
import { ENGINE_MEMORY_BYTES } from './engine-memory.ts';
import { RuleIndex } from './rule-index.ts';
import { warmFrames } from './warm-up.ts';

const IN_SOURCES = import.meta.filename.endsWith('.ts');
/** In the source tree, otherwise beside the bundle that contains this file. */
const ENGINE = join(import.meta.dirname, ...(IN_SOURCES ? ['..', 'engine', 'engine.wasm'] : ['waf-engine.wasm']));
/** Milliseconds of CPU for loading rules, in slices. */
const LOAD_MS = 20_000;
/** Instances that are kept for the next inspections. */
const MOST_IDLE = 2;

/** The rules cannot be loaded; stops the load (exit 1). */
class RuleSetError extends Error {}

export class RuleSet {
  readonly index: RuleIndex;
  readonly #module: HostModule;
  readonly #snapshot: Snapshot;
  readonly #idle: HostInstance[];

  constructor(index: RuleIndex, module: HostModule, snapshot: Snapshot, first: HostInstance) {
    this.index = index;
    this.#module = module;
    this.#snapshot = snapshot;
    this.#idle = [first];
  }

  /** Runs one inspection; rejects as `HostInstance.call` does. */
  async inspect(frame: Uint8Array, limits: FrameCall): Promise<{ readonly bytes: Buffer; readonly cpuMs: number }> {
    const instance = this.#idle.pop() ?? this.#module.instantiate();
    const result = await instance.call(this.#snapshot, 'inspect', frame, limits);
    // One whose call has failed, or that has grown, is dropped.
    if (this.#idle.length < MOST_IDLE && instance.size === this.#snapshot.size) this.#idle.push(instance);
    return result;
  }
}

export class RuleSets {
  #module: Promise<HostModule> | null = null;
  readonly #sets = new Map<string, { readonly set: Promise<RuleSet>; users: number }>();

  /** Loads a rule set, or takes one that is loaded; `close` gives it back. Rejects with RuleSetError. */
  open(path: string, bytes: Uint8Array): Promise<RuleSet> {
    const known = this.#sets.get(path) ?? { set: this.#load(bytes), users: 0 };
    known.users++;
    this.#sets.set(path, known);
    return known.set;
  }

  close(path: string): void {
    const known = this.#sets.get(path);
    if (known !== undefined && --known.users === 0) this.#sets.delete(path);
  }

  async #load(bytes: Uint8Array): Promise<RuleSet> {
    this.#module ??= HostModule.compile(readFileSync(ENGINE), { memoryBytes: ENGINE_MEMORY_BYTES, imports: SYSTEM });
    const index = new RuleIndex(decodeProgram(bytes));
    const module = await this.#module;
    const instance = module.instantiate();
    const limits: FrameCall = { cpuMs: LOAD_MS, check: () => {} };
    await instance.initialise(limits);
    const fault = await instance.call(null, 'load', bytes, limits);
    if (fault.bytes.length > 0) throw new RuleSetError(`the engine does not take the rules: ${fault.bytes.toString()}`);
    // What harmless requests need is worked out before the snapshot: what a call works out is lost with it.
    for (const frame of warmFrames()) await instance.call(null, 'inspect', frame, limits);
    const sealed = await instance.call(null, 'seal', new Uint8Array(), limits);
    if (sealed.bytes.length > 0) throw new RuleSetError('the rules take too much memory');
    return new RuleSet(index, module, instance.snapshot(), instance);
  }
}

/** The system that Rust's library expects: no arguments, no environment, no files. */
const SYSTEM = {
  wasi_snapshot_preview1: {
    environ_get: () => 0,
    environ_sizes_get: () => 0,
    fd_write: () => 8,
    // For the keys of tables, which rules fill and requests do not.
    random_get: () => 0,
    proc_exit: () => {
      throw new RuleSetError('the engine has ended');
    },
  },
};
