/** What the engine says of itself: which functions it compiles, and when. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

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
