/** The published packages of the built-in plugins: a plugin's folder says all but what every package of gw has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtinPlugins } from '../gateway/src/plugins/builtin.ts';
import type { PackageJson } from './published-exports.ts';

const root = join(import.meta.dirname, '..');

/** Their package.json by the names of the plugins, sorted. */
export function pluginPackages(): ReadonlyMap<string, PackageJson> {
  const gateway: PackageJson = JSON.parse(readFileSync(join(root, 'gateway', 'package.json'), 'utf8'));
  const { version, license, type } = gateway;
  return new Map(
    builtinPlugins().map((name) => [
      name,
      { name: `@gw/plugin-${name}`, version, description: `gw plugin: ${name}`, license, type },
    ]),
  );
}
