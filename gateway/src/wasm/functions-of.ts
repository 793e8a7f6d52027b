/** The host functions that plugins need, before they are loaded. */
import { PluginLoadError } from './binary/plugin-load-error.ts';
import { readImports, readSections, readTypes } from './binary/sections.ts';

/** A module, and the host functions that its plugin.toml declares. */
export interface PluginFunctions {
  readonly wasm: Uint8Array;
  readonly declared: readonly string[];
}

/** Returns the names of host functions that the plugins declare or import. */
export function functionsOf(plugins: readonly PluginFunctions[]): ReadonlySet<string> {
  return new Set(plugins.flatMap(({ wasm, declared }) => [...declared, ...importedBy(wasm)]));
}

/** Returns no names for a module that cannot be read: loading it reports why. */
function importedBy(wasm: Uint8Array): readonly string[] {
  try {
    const sections = readSections(wasm);
    return readImports(sections[2], readTypes(sections[1])).map(({ name }) => name);
  } catch (error) {
    if (error instanceof PluginLoadError) return [];
    throw error;
  }
}
