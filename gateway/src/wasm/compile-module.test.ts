/** What the engine says of itself: which functions it compiles, and when. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { WAIT_LIMIT_MS } from '../../../test/wait-limit.ts';

const MODULES = 20;

/** Compiles modules, and calls every function of each; the engine writes a line for each function that it compiles. */
const PROGRAM = `
import { setFlagsFromString } from 'node:v8';
import { compileModule } from '${new URL('./compile-module.ts', import.meta.url).href}';
import { moduleOf } from '${new URL('./binary/module-of.ts', import.meta.url).href}';
const modules = await Promise.all(Array.from({ length: ${MODULES} }, async (_, i) => {
  const code = [...Array(i).fill([0x41, 0, 0x1a]).flat(), 0x41, 0, 0x0b];
  if (i === 0) setFlagsFromString('--trace-wasm-compilation-times');
  for (let turn = 0; turn < i; turn++) await new Promise((done) => setImmediate(done));
  return compileModule(moduleOf({ code }));
}));
console.log('LOADED');
for (const module of modules) {
  const { exports } = new WebAssembly.Instance(module, {});
  exports.init();
  exports.on_request();
}
console.log('CALLED');
`;

it('compiles every function before the module is loaded, also if several modules load at once', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    maxBuffer: 64 << 20,
  });
  const [before = '', after = ''] = stdout.split('LOADED');
  const compiled = (text: string) => text.match(/using Liftoff/g)?.length ?? 0;
  expect(after).toContain('CALLED');
  expect(compiled(after)).toBe(0);
  expect(compiled(before)).toBeGreaterThanOrEqual(MODULES * 2);
});

/** Compiles modules of two kinds, many of each at once, as a compiler does that checks many projects. */
const EQUAL_MODULES = `
import { compileModule } from '${new URL('./compile-module.ts', import.meta.url).href}';
import { moduleOf } from '${new URL('./binary/module-of.ts', import.meta.url).href}';
for (let round = 0; round < 30; round++) {
  const kinds = [round, round + 1000].map((value) => [0x41, ...leb(value), 0x1a, 0x41, 0, 0x0b]);
  const modules = await Promise.all(
    Array.from({ length: 100 }, (_, i) => compileModule(moduleOf({ code: kinds[i % 2] }))),
  );
  if (new Set(modules).size !== 2) throw new Error('equal bytes were compiled more than once');
}
const invalid = await Promise.allSettled([0, 1].map(() => compileModule(Buffer.from('no module'))));
console.log(invalid.map(({ status }) => status).join());
function leb(value) {
  return [(value & 0x7f) | 0x80, value >> 7];
}
`;

it('compiles equal bytes once where many callers ask at the same time', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', EQUAL_MODULES], {
    timeout: WAIT_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  expect(stdout).toBe('rejected,rejected\n');
});
