/** A plugin package in one file: `.tar.gz` of plugin.toml, config-schema.json and the module, or the bare module. */
import { type PluginPackage, PluginPackageError, wasmFileOf } from './package.ts';
import { ArchiveError, isGzip, unpack } from './unpack.ts';

/** `\0asm`: how a WebAssembly module begins. */
const WASM_MAGIC = [0x00, 0x61, 0x73, 0x6d];

/** Recognises the archive by content. `name`: of a plugin without plugin.toml. Rejects with PluginPackageError. */
export async function readPluginArchive(bytes: Uint8Array, name: string): Promise<PluginPackage> {
  if (WASM_MAGIC.every((byte, index) => bytes[index] === byte)) return { wasm: bytes, name };
  if (!isGzip(bytes)) {
    throw new PluginPackageError('it is neither a WebAssembly module nor a .tar.gz');
  }
  return pluginPackageOf(await filesOf(bytes), name);
}

/**
 * Returns the package among files, which lie at the top or all in one folder. Throws PluginPackageError if plugin.toml,
 * or the module that it names, is missing.
 */
export function pluginPackageOf(found: ReadonlyMap<string, Uint8Array>, name: string): PluginPackage {
  const files = withoutFolder(found);
  const manifest = files.get('plugin.toml');
  if (!manifest) throw new PluginPackageError('the archive has no plugin.toml at its top, or in its only folder');
  const module = wasmFileOf(Buffer.from(manifest).toString('utf8'));
  const wasm = files.get(module);
  if (!wasm) throw new PluginPackageError(`the archive has no ${module} beside plugin.toml`);
  const configSchema = files.get('config-schema.json');
  return { wasm, manifest, name, ...(configSchema ? { configSchema } : {}) };
}

async function filesOf(bytes: Uint8Array): Promise<ReadonlyMap<string, Buffer>> {
  try {
    return await unpack(bytes);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    throw new PluginPackageError(error.message, { cause: error });
  }
}

/** Returns files by their path or, if all lie in one folder, by that in the folder. */
function withoutFolder(files: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, Uint8Array> {
  const tops = new Set([...files.keys()].map((file) => file.slice(0, file.indexOf('/') + 1)));
  const [top = ''] = tops;
  return tops.size === 1 ? new Map([...files].map(([file, content]) => [file.slice(top.length), content])) : files;
}
