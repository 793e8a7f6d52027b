/** Metering changes what code costs, and nothing of what it computes. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testPlugin } from '../../../sdk/testing/index.ts';

const folder = join(import.meta.dirname, '..', '..', '..', '..', 'test', 'fixtures', 'plugins', 'features');

/** What the module itself computes, without the gateway's rewriting. */
async function unmetered(): Promise<string> {
  const module = await WebAssembly.compile(await readFile(join(folder, 'features.wasm')));
  let result = '';
  const { exports } = new WebAssembly.Instance(module, {
    gw_abi_1: {
      context_set: (_key: number, _keyLength: number, value: number, length: number) => {
        const { memory } = exports;
        if (memory instanceof WebAssembly.Memory) result = Buffer.from(memory.buffer, value, length).toString();
      },
    },
  });
  for (const name of ['_initialize', 'init', 'on_request']) {
    const fn = exports[name];
    if (typeof fn === 'function') fn();
  }
  return result;
}

it('computes the same with and without metering, again and again', async () => {
  const expected = await unmetered();
  expect(expected).toMatch(/^\d+ \d+ \d+ $/);
  const kit = await testPlugin(folder);
  for (let i = 0; i < 3; i++) expect((await kit.onRequest({})).context['result']).toBe(expected);
  kit.close();
});
