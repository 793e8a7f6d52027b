/** Reads a plugin's folder and prepares it, with the compiler's own functions. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArtifactPlugin,
  artifactPlugin,
  configValidator,
  type JsonObject,
  marksOf,
  readPluginPackage,
  wasmFileOf,
} from '@gw/gateway/plugin-testing';

export interface PluginFolder {
  readonly plugin: ArtifactPlugin;
  readonly wasm: Uint8Array;
  /** Fills in the schema's defaults. Throws if the schema refuses the config. */
  complete(config: JsonObject): JsonObject;
}

/** Throws if the folder lacks plugin.toml, config-schema.json or the module, or one is not valid. */
export async function readPluginFolder(folder: string): Promise<PluginFolder> {
  const manifestBytes = await readFile(join(folder, 'plugin.toml'));
  const { name, wasm, manifest, configSchema } = readPluginPackage({
    manifest: manifestBytes,
    configSchema: await readFile(join(folder, 'config-schema.json')),
    wasm: await readFile(join(folder, wasmFileOf(manifestBytes.toString()))),
  });
  if (!manifest || !configSchema) throw new Error(`${folder} holds no plugin`);
  const validate = configValidator(configSchema);
  const marks = marksOf(configSchema);
  return {
    wasm,
    plugin: artifactPlugin({ name, manifest, wasm, marks, validate, config: {} }),
    complete(given) {
      const { config, errors } = validate(given);
      const reasons = errors.map(({ pointer, message }) => `${pointer} ${message}`);
      if (reasons.length > 0) throw new Error(`the config's schema refuses it: ${reasons.join('; ')}`);
      return config;
    },
  };
}
