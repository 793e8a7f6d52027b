/** Plugins that only tests use (`test/fixtures/plugins`). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProjectPlugin, readPluginPackage } from '../../gateway/src/compiler/index.ts';

export function fixture(name: string): ProjectPlugin {
  const folder = join(import.meta.dirname, '..', 'fixtures', 'plugins', name);
  const file = (base: string) => readFileSync(join(folder, base));
  return readPluginPackage({
    wasm: file(`${name}.wasm`),
    manifest: file('plugin.toml'),
    configSchema: file('config-schema.json'),
  });
}
