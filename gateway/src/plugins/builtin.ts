/** The plugins that come with the gateway, each by its name (docs/decisions.md#plugins-declared). */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PluginPackageError, readPluginPackage } from './package.ts';
import type { ProjectPlugin } from './project-plugin.ts';

const IN_SOURCES = import.meta.filename.endsWith('.ts');
/** In the source tree each plugin lies with its feature, otherwise beside the bundle that contains this file. */
const ROOT = IN_SOURCES ? join(import.meta.dirname, '..', '..') : import.meta.dirname;
const MANIFESTS = IN_SOURCES ? 'features/*/plugins/*/plugin.toml' : 'plugins/*/plugin.toml';

let known: ReadonlyMap<string, string> | undefined;

/** Folders by the names of the plugins, sorted. */
function folders(): ReadonlyMap<string, string> {
  known ??= new Map(
    globSync(MANIFESTS, { cwd: ROOT })
      .map((manifest): [string, string] => {
        const folder = dirname(join(ROOT, manifest));
        return [basename(folder), folder];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return known;
}

function installed(): ReadonlyMap<string, string> {
  const found = folders();
  if (found.size === 0) throw new PluginPackageError(`the built-in plugins are missing (looked in ${ROOT})`);
  return found;
}

/** Names, sorted. */
export function builtinPlugins(): readonly string[] {
  return [...installed().keys()];
}

/** Throws PluginPackageError if the plugin does not exist. */
export function builtinPluginFolder(name: string): string {
  const all = installed();
  const folder = all.get(name);
  if (folder !== undefined) return folder;
  throw new PluginPackageError(`there is no built-in plugin "${name}" (there are ${[...all.keys()].join(', ')})`);
}

/** Returns `builtinPlugins()` for hints; empty if the plugins are missing. */
export function builtinNames(): readonly string[] {
  return [...folders().keys()];
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
  const folder = builtinPluginFolder(name);
  const file = (base: string) => join(folder, base);
  const wasm = file(`${name}.wasm`);
  if (!existsSync(wasm))
    throw new PluginPackageError(`built-in plugin "${name}" has not been built: run npm run plugins`);
  return {
    wasm: readFileSync(wasm),
    manifest: readFileSync(file('plugin.toml')),
    configSchema: existsSync(file('config-schema.json')) ? readFileSync(file('config-schema.json')) : undefined,
  };
}
