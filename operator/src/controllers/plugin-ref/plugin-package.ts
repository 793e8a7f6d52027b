import { createHash } from 'node:crypto';
import type { ProjectPlugin } from '@gw/gateway/compiler';
import type { PluginRef } from '../../api/resources.ts';
import type { Objects } from '../../runtime/objects.ts';
import { type Entries, type Read, readConfigMap, readSecret, refuse } from '../source.ts';

/** Where plugins come from that the project does not bring along, and what reads the packages that it does. */
export interface PluginCatalog {
  /** A plugin that comes with gw, undefined when there is none of that name. */
  builtin(name: string): Promise<ProjectPlugin | undefined>;
  /** Reads a package. Throws with the reason when its manifest or schema is wrong. */
  read(files: {
    readonly wasm: Uint8Array;
    readonly manifest?: Uint8Array;
    readonly configSchema?: Uint8Array;
  }): ProjectPlugin;
}

export interface LoadedPlugin {
  readonly plugin: ProjectPlugin;
  /** Of the module, in hex. */
  readonly sha256: string;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Reads what the PluginRef points at, and checks the version and hash that it asks for. */
export async function readPlugin(
  objects: Objects,
  catalog: PluginCatalog,
  ref: PluginRef,
): Promise<Read<LoadedPlugin>> {
  const name = ref.spec.plugin ?? ref.metadata.name;
  const read = await load(objects, catalog, ref, name);
  if (!read.ok) return read;
  const { defaultConfig, version, sha256: wanted } = ref.spec;
  const plugin: ProjectPlugin = { ...read.plugin, name, ...(defaultConfig ? { defaultConfig } : {}) };
  const has = plugin.manifest?.version;
  if (version !== undefined && has !== version) {
    return refuse('SourceInvalid', `spec.version asks for ${version}, the plugin's manifest says ${has ?? 'nothing'}`);
  }
  const hash = sha256(plugin.wasm);
  if (wanted !== undefined && wanted !== hash)
    return refuse('SourceInvalid', `spec.sha256 asks for ${wanted}, the module has ${hash}`);
  return { ok: true, plugin, sha256: hash };
}

async function load(
  objects: Objects,
  catalog: PluginCatalog,
  ref: PluginRef,
  name: string,
): Promise<Read<{ plugin: ProjectPlugin }>> {
  const { builtin, configMap, secret } = ref.spec.source;
  const namespace = ref.metadata.namespace ?? 'default';
  if ([builtin, configMap, secret].filter((source) => source !== undefined).length !== 1) {
    return refuse('InvalidSpec', 'spec.source: exactly one of builtin, configMap and secret must be set');
  }
  if (builtin) {
    const plugin = await catalog.builtin(builtin.name ?? name);
    return plugin
      ? { ok: true, plugin }
      : refuse('PluginNotFound', `gw has no built-in plugin "${builtin.name ?? name}"`);
  }
  const keys = configMap ?? secret;
  if (!keys) return refuse('InvalidSpec', 'spec.source is empty');
  const read = configMap
    ? await readConfigMap(objects, namespace, keys.name)
    : await readSecret(objects, namespace, keys.name);
  if (!read.ok) return read;
  const module = moduleKey(read.entries, keys.wasm);
  const wasm = module === undefined ? undefined : read.entries.get(module);
  if (!wasm)
    return refuse(
      'SourceNotFound',
      `"${keys.name}" has no key "${keys.wasm ?? '*.wasm'}": set the key of the module in spec.source`,
    );
  const manifest = read.entries.get(keys.manifest);
  const configSchema = read.entries.get(keys.configSchema);
  try {
    return {
      ok: true,
      plugin: catalog.read({ wasm, ...(manifest ? { manifest } : {}), ...(configSchema ? { configSchema } : {}) }),
    };
  } catch (error) {
    return refuse('PluginInvalid', error instanceof Error ? error.message : String(error));
  }
}

function moduleKey(entries: Entries, named: string | undefined): string | undefined {
  if (named !== undefined) return named;
  const modules = [...entries.keys()].filter((key) => key.endsWith('.wasm'));
  return modules.length === 1 ? modules[0] : undefined;
}
