/** What toolchains import, taken from modules that they have made, and what is said of it. */
import { expect, it } from 'vitest';
import { describeForeignImports } from './foreign-imports.ts';

const WASI = (...names: string[]) => names.map((name) => `wasi_snapshot_preview1.${name}`);
const BINDGEN = (...names: string[]) => names.map((name) => `__wbindgen_placeholder__.${name}`);

it.each([
  ['AssemblyScript, console.log', ['env.console.log'], ['no console: log with host_log']],
  ['AssemblyScript, trace', ['env.trace'], ['no console: log with host_log']],
  ['AssemblyScript, Date.now', ['env.Date.now'], ['time_now (now() of the SDK)']],
  ['AssemblyScript, performance.now', ['env.performance.now'], ['time_now']],
  ['AssemblyScript, Math.random', ['env.seed'], ['random_get']],
  ['AssemblyScript, process', ['env.process.argv'], ['config_get']],
  ['AssemblyScript, throw, with another compiler', ['env.abort'], ['--use abort=']],
  [
    'Rust for WASI, println!',
    WASI('environ_get', 'environ_sizes_get', 'fd_write', 'proc_exit'),
    ['no WASI: build for a target without a system (Rust: wasm32-unknown-unknown', 'host_log'],
  ],
  ['Rust for WASI, SystemTime::now', WASI('clock_time_get'), ['wasm32-unknown-unknown', 'time_now']],
  ['Rust with wasm-bindgen, console.log', BINDGEN('__wbg_log_ff86bbb34c295e21'), ['leave out the crates', 'host_log']],
  ['Rust with wasm-bindgen, Date.now', BINDGEN('__wbg_now_463ac581d2fc7ea3'), ['leave out the crates', 'time_now']],
  [
    'Rust with wasm-bindgen, async',
    BINDGEN('__wbg_then_e3f7f2d365708be8', '__wbg_queueMicrotask_4a1a4d8dd332373b'),
    ['leave out the crates', 'There is nothing to await: host calls'],
  ],
  [
    'Go for WASI',
    WASI('sched_yield', 'clock_time_get', 'fd_write'),
    ['TinyGo for wasm-unknown', 'host_log', 'time_now'],
  ],
  ['Go for browsers', ['gojs.runtime.walltime', 'gojs.runtime.wasmWrite'], ['TinyGo', 'host_log', 'time_now']],
])('%s', (_, names, says) => {
  const text = describeForeignImports(names);
  for (const name of names) expect(text).toContain(name);
  for (const each of says) expect(text).toContain(each);
  expect(text).toContain('plugins import from gw_abi_1 only');
});

it('names a few of many imports, first those that say what is missed', () => {
  const names = [
    ...WASI('args_get', 'args_sizes_get', 'environ_get', 'environ_sizes_get', 'fd_write'),
    'env.console.log',
  ];
  expect(describeForeignImports(names)).toMatch(
    /^imports wasi_snapshot_preview1\.fd_write, env\.console\.log, wasi_\w+\.args_get, wasi_\w+\.args_sizes_get and 2 more: /,
  );
});

it('says each thing once', () => {
  const text = describeForeignImports(['env.console.log', 'env.console.warn']);
  expect(text.match(/host_log/g)).toHaveLength(1);
});
