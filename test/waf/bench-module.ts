/**
 * Measures an engine's WebAssembly module as a gateway runs it: CPU of the two requests of `oracle --bench`, with and
 * without metering, with memory put back after each request: `node test/waf/bench-module.ts MODULE [LEVEL]`.
 */
import { readFileSync } from 'node:fs';
import { readVerdict } from '../../gateway/features/waf/host/verdict.ts';
import { REFUEL } from '../../gateway/src/wasm/binary/injected.ts';
import { ENTER, GLOBAL, rewriteModule, WRITTEN } from '../../gateway/src/wasm/binary/rewrite.ts';
import type { MutableGlobal } from '../../gateway/src/wasm/binary/types.ts';
import { GuestMemory } from '../../gateway/src/wasm/call/guest-memory.ts';
import { Snapshot } from '../../gateway/src/wasm/snapshot.ts';
import { benchRequests } from './bench-requests.ts';
import { ruleSetProgram, transactionFrame } from './frames.ts';

const QUANTUM = 65_536;
const MEMORY = 64 << 20;
const ROUNDS = 1_000;
/** Bytes of the run that calls allocate from. */
const ARENA = 8 << 20;

class EngineModule {
  readonly memory: WebAssembly.Memory;
  readonly exports: WebAssembly.Instance['exports'];
  refuels = 0;

  constructor(module: WebAssembly.Module) {
    const wasi = new Proxy({}, { get: (_, name) => this.#wasi(String(name)), has: () => true });
    const [refuel = '', wait = ''] = REFUEL.names;
    const injected = { [refuel]: () => this.#refuel(), [wait]: () => QUANTUM };
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi, [REFUEL.module]: injected });
    this.exports = instance.exports;
    const { memory } = instance.exports;
    if (!(memory instanceof WebAssembly.Memory)) throw new Error('no memory');
    this.memory = memory;
  }

  #refuel(): number {
    this.refuels++;
    return QUANTUM;
  }

  #wasi(name: string): (...args: number[]) => number {
    return (...args) => {
      if (name === 'proc_exit') throw new Error(`exit ${args[0]}`);
      if (name === 'fd_write') return this.#write(args);
      if (name.endsWith('_sizes_get')) {
        new DataView(this.memory.buffer).setUint32(args[0] ?? 0, 0, true);
        new DataView(this.memory.buffer).setUint32(args[1] ?? 0, 0, true);
      }
      return 0;
    };
  }

  #write([, list = 0, count = 0, written = 0]: number[]): number {
    const view = new DataView(this.memory.buffer);
    let total = 0;
    for (let i = 0; i < count; i++) {
      const [pointer, length] = [view.getUint32(list + 8 * i, true), view.getUint32(list + 8 * i + 4, true)];
      process.stderr.write(Buffer.from(this.memory.buffer, pointer, length));
      total += length;
    }
    view.setUint32(written, total, true);
    return 0;
  }

  call(name: string, ...args: number[]): number {
    const found = this.exports[name];
    if (typeof found !== 'function') throw new Error(`no export ${name}`);
    return Number(Reflect.apply(found, undefined, args));
  }

  put(bytes: Uint8Array): void {
    const pointer = this.call('input', bytes.length);
    Buffer.from(this.memory.buffer).set(bytes, pointer);
  }

  output(length: number): Buffer {
    return Buffer.from(Buffer.from(this.memory.buffer, this.call('output') >>> 0, length));
  }

  load(rules: Uint8Array): void {
    if (this.exports['_initialize']) this.call('_initialize');
    this.put(rules);
    const error = this.call('load');
    if (error > 0) throw new Error(this.output(error).toString());
  }

  inspect(request: Uint8Array): Buffer {
    this.put(request);
    return this.output(this.call('inspect'));
  }
}

function cpuMicros(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

function report(what: string, figures: object): void {
  console.log(`${what}: ${JSON.stringify(figures)}`);
}

const [path = '', level = '1'] = process.argv.slice(2);
const wasm = readFileSync(path);
const rules = ruleSetProgram(Number(level));
const requests = benchRequests().map(({ id, ...request }) => [id, transactionFrame({ id, ...request })] as const);

report('module', { bytes: wasm.length });
const plain = new EngineModule(new WebAssembly.Module(wasm));
report('load, not metered', {
  ms: cpuMicros(() => plain.load(rules)) / 1000,
  memoryMB: plain.memory.buffer.byteLength / 2 ** 20,
});
for (const [id, frame] of requests) {
  report(`${id}, first`, { us: cpuMicros(() => plain.inspect(frame)), ...readVerdict(plain.inspect(frame)) });
  for (let i = 0; i < 200; i++) plain.inspect(frame);
  const us = cpuMicros(() => {
    for (let i = 0; i < ROUNDS; i++) plain.inspect(frame);
  });
  report(`${id}, not metered`, { us: us / ROUNDS });
}

const before = performance.now();
const rewritten = rewriteModule(wasm, MEMORY);
report('metering', { ms: performance.now() - before, bytes: rewritten.bytes.length, blockBits: rewritten.blockBits });
const metered = new EngineModule(new WebAssembly.Module(rewritten.bytes as Uint8Array<ArrayBuffer>));
report('load, metered', {
  ms: cpuMicros(() => metered.load(rules)) / 1000,
  memoryMB: metered.memory.buffer.byteLength / 2 ** 20,
});
for (const [id, frame] of requests) {
  for (let i = 0; i < 200; i++) metered.inspect(frame);
  const us = cpuMicros(() => {
    for (let i = 0; i < ROUNDS; i++) metered.inspect(frame);
  });
  metered.refuels = 0;
  metered.inspect(frame);
  report(`${id}, metered`, {
    us: us / ROUNDS,
    refuels: metered.refuels,
    memoryMB: metered.memory.buffer.byteLength / 2 ** 20,
  });
}

/**
 * Runs with the state of the snapshot put back after each request. `exact`: of the stretch with stack, data and what a
 * call allocates, only as much as was used is put back; elsewhere, blocks that were written to.
 */
function restored(what: string, warm: readonly Uint8Array[], exact: boolean): void {
  const engine = new EngineModule(new WebAssembly.Module(rewritten.bytes as Uint8Array<ArrayBuffer>));
  engine.load(rules);
  for (const frame of warm) engine.inspect(frame);
  const arena = engine.exports['seal'] ? engine.call('seal') : 0;
  const globals = rewritten.mutableGlobals.map(
    ({ index }: MutableGlobal) => engine.exports[GLOBAL + index] as WebAssembly.Global,
  );
  const memory = new GuestMemory(engine.memory, () => {}, rewritten.blockBits);
  const snapshot = new Snapshot(memory, globals);
  const enter = engine.exports[ENTER] as (...state: (number | bigint)[]) => void;
  const written = engine.exports[WRITTEN] as (half: number) => number;
  const size = memory.bytes.length;
  const state = Buffer.from(memory.bytes);
  /** First block with something behind the arena. */
  const behind = Math.floor((arena + ARENA) / (1 << rewritten.blockBits));
  const putBack = (low: number, high: number) => {
    if (!exact) return snapshot.restoreWritten(memory, low, high, rewritten.blockBits);
    memory.bytes.set(state.subarray(0, arena + engine.call('used')));
    snapshot.restoreWritten(memory, low & (-1 << behind), high, rewritten.blockBits);
  };
  for (const [id, frame] of requests) {
    let blocks = 0;
    const once = () => {
      const [low, high] = [written(0), written(1)];
      blocks += bits(low) + bits(high);
      putBack(low | memory.writtenLow, high | memory.writtenHigh);
      memory.forgetWritten();
      snapshot.enter(enter, QUANTUM);
      engine.inspect(frame);
    };
    for (let i = 0; i < 50; i++) once();
    blocks = 0;
    const us = cpuMicros(() => {
      for (let i = 0; i < ROUNDS; i++) once();
    });
    const used = engine.call('used');
    const grown = engine.memory.buffer.byteLength - size;
    report(`${id}, metered and restored, ${what}${exact ? ', exact' : ''}`, {
      us: us / ROUNDS,
      blocks: blocks / ROUNDS,
      usedBytes: used,
      grownBytes: grown,
    });
  }
}

function bits(value: number): number {
  let count = 0;
  for (let left = value >>> 0; left !== 0; left = (left & (left - 1)) >>> 0) count++;
  return count;
}

const frames = requests.map(([, frame]) => frame);
restored('cold', [], false);
restored('warm', frames, false);
restored('warm', frames, true);
