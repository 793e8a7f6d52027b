import { expect, it } from 'vitest';
import { builtinPlugins, loadBuiltinPlugin } from '../plugins/builtin.ts';
import { rewriteModule } from './binary/rewrite.ts';
import { DEFAULT_LIMITS } from './call/plugin.ts';
import { meteredFile, readMetered } from './metered-modules.ts';

const { memoryBytes } = DEFAULT_LIMITS;

it.each(builtinPlugins())('keeps %s as metering makes it', (name) => {
  const { wasm } = loadBuiltinPlugin(name);
  const { bytes } = meteredFile(wasm, memoryBytes);
  expect(readMetered(bytes)).toEqual(rewriteModule(wasm, memoryBytes));
});

it('names modules by their bytes and the limit', () => {
  const { wasm } = loadBuiltinPlugin('mock');
  const names = [meteredFile(wasm, memoryBytes), meteredFile(wasm, memoryBytes / 2)].map(({ name }) => name);
  expect(new Set([...names, meteredFile(loadBuiltinPlugin('cors').wasm, memoryBytes).name]).size).toBe(3);
});
