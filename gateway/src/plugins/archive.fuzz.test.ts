/** The reader of plugin packages, which come from elsewhere, on archives that are nearly right. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mutated } from '../../../test/mutations.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { writeTar } from '../artifact/tar.ts';
import { readPluginArchive } from './archive.ts';
import { PluginPackageError } from './package.ts';

const tokens = [
  '\0',
  'ustar\x0000',
  'ustar  \x00',
  '77777777777',
  '\x80\xff',
  'L',
  'x',
  '5',
  '2',
  '../',
  './',
  '52 path=',
  '\n',
  '=',
];
const manifest =
  '[plugin]\nname = "p"\nversion = "1.0.0"\ntype = "middleware"\n\n[capabilities]\nhost_functions = []\n';

it('reads or refuses any package, and does not wait for what does not come', async () => {
  const tar = await writeTar([
    { name: 'p/plugin.toml', bytes: Buffer.from(manifest) },
    { name: 'p/p.wasm', bytes: Buffer.from('\0asm\x01\0\0\0', 'latin1') },
  ]);
  const inside = mutated([tar, tar.subarray(0, 700)], tokens).map((bytes) => gzipSync(bytes, { level: 1 }));
  const around = mutated([gzipSync(tar), Buffer.from('\0asm', 'latin1')], tokens);
  await fc.assert(
    fc.asyncProperty(fc.oneof(inside, around), async (bytes) => {
      const found = await readPluginArchive(bytes, 'p').catch((error: unknown) => {
        if (error instanceof PluginPackageError) return null;
        throw error;
      });
      if (found) expect(found.wasm.length).toBeLessThan(64 << 20);
    }),
    { ...propertyRuns(1000), timeout: 2000 },
  );
});
