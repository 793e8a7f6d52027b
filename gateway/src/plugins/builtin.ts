/** The plugins that come with the gateway, each by its name (docs/decisions.md#plugins-declared). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PluginPackageError, readPluginPackage } from './package.ts';
import type { ProjectPlugin } from './project-plugin.ts';

/** In the source tree, or beside the bundle that contains this file. */
const FOLDER = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', '..', 'plugins')
  : join(import.meta.dirname, 'plugins');

function folder(): string {
  if (!existsSync(FOLDER)) throw new PluginPackageError(`the built-in plugins are missing (looked in ${FOLDER})`);
  return FOLDER;
}

/** Names, sorted. */
export function builtinPlugins(): readonly string[] {
  const path = folder();
  return readdirSync(path)
    .filter((name) => existsSync(join(path, name, 'plugin.toml')))
    .sort();
}

let names: readonly string[] | undefined;

/** Returns `builtinPlugins()` for hints; empty if the plugins are missing. */
export function builtinNames(): readonly string[] {
  names ??= existsSync(FOLDER) ? builtinPlugins() : [];
  return names;
}

/** Throws PluginPackageError if the plugin does not exist, or has not been built. */
export function loadBuiltinPlugin(name: string): ProjectPlugin {
  const { wasm, manifest, configSchema } = filesOf(name);
  return readPluginPackage({ wasm, manifest, ...(configSchema ? { configSchema } : {}) });
}

/** The files of the plugin's package by name, as a manifest can refer to them. Throws as `loadBuiltinPlugin` does. */
export function builtinPluginFiles(name: string): ReadonlyMap<string, Uint8Array> {
  const { wasm, manifest, configSchema } = filesOf(name);
  const files = new Map([
    [`${name}.wasm`, wasm],
    ['plugin.toml', manifest],
  ]);
  if (configSchema) files.set('config-schema.json', configSchema);
  return files;
}

function filesOf(name: string) {
  const known = builtinPlugins();
  if (!known.includes(name))
    throw new PluginPackageError(`there is no built-in plugin "${name}" (there are ${known.join(', ')})`);
  const file = (base: string) => join(folder(), name, base);
  const wasm = file(`${name}.wasm`);
  if (!existsSync(wasm))
    throw new PluginPackageError(`built-in plugin "${name}" has not been built: run npm run plugins`);
  return {
    wasm: readFileSync(wasm),
    manifest: readFileSync(file('plugin.toml')),
    configSchema: existsSync(file('config-schema.json')) ? readFileSync(file('config-schema.json')) : undefined,
  };
}
