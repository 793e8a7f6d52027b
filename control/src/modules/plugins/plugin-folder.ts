/**
 * Plugins as folders: plugin.toml, the WASM module, and config-schema.json if the plugin has one
 * (docs/reference/plugins.md#packages).
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PluginPackageError, readPluginPackage } from '@gw/gateway/compiler';
import { wasmFileOf } from '@gw/gateway/plugin-config';
import { ControlError } from '../../errors.ts';
import { checkStorable } from '../../http/storable.ts';
import type { CheckedPackage } from './register-package.ts';
import { MAX_MODULE, MAX_SCHEMA } from './schemas.ts';

/** Bytes of a plugin.toml. */
const MAX_MANIFEST = 64 << 10;
const MAX_NAME = 63;

/** Returns the names of folders in it that contain a plugin, or a part of one, sorted. Rejects if it cannot be read. */
export async function pluginFolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isFile() && !entry.name.startsWith('.')).map(({ name }) => name);
  const parts = await Promise.all(names.map((name) => readdir(join(folder, name)).catch(() => [])));
  return names.filter((_, i) => parts[i]?.some((file) => file === 'plugin.toml' || file.endsWith('.wasm'))).sort();
}

/** Throws PluginPackageError with the file that is missing or wrong; whether the module loads is not checked. */
export async function readPluginFolder(folder: string): Promise<CheckedPackage> {
  const manifestBytes = await readBounded(join(folder, 'plugin.toml'), MAX_MANIFEST);
  const wasmFile = wasmFileOf(manifestBytes.toString());
  const schemaFile = join(folder, 'config-schema.json');
  const { manifest, wasm, configSchema } = readPluginPackage({
    manifest: manifestBytes,
    wasm: await readBounded(join(folder, wasmFile), MAX_MODULE),
    ...(existsSync(schemaFile) ? { configSchema: await readBounded(schemaFile, MAX_SCHEMA) } : {}),
  });
  if (!manifest) throw new PluginPackageError('plugin.toml is missing');
  if (manifest.name.length > MAX_NAME) throw new PluginPackageError(`"name" has more than ${MAX_NAME} characters`);
  try {
    checkStorable(manifest, 'plugin.toml');
    checkStorable(configSchema, 'config-schema.json');
  } catch (error) {
    throw error instanceof ControlError ? new PluginPackageError(error.message) : error;
  }
  return { manifest, wasm, configSchema: configSchema ?? null };
}

async function readBounded(path: string, most: number): Promise<Buffer> {
  const size = await stat(path).then(
    (found) => found.size,
    () => null,
  );
  if (size === null) throw new PluginPackageError(`${path} is missing`);
  if (size > most) throw new PluginPackageError(`${path} has ${size} bytes: at most ${most}`);
  return readFile(path);
}
