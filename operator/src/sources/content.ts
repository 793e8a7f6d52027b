/** Reads the files in fetched content: a document or an archive of several, a plugin's module or package. */
import { projectFiles } from '@gw/control';
import {
  ArchiveError,
  isGzip,
  isTar,
  type PluginPackage,
  PluginPackageError,
  readPluginArchive,
} from '@gw/gateway/compiler';
import { messageOf } from '@gw/gateway/message-of';
import { SourceError, type SourceOwner } from './source.ts';

/** Maximum bytes of one file or archive, and of all layers of an image together: the limit of an upload. */
export const MAX_BYTES = 32 << 20;

/** Reads the files in the file of a URL. Rejects with SourceError. */
export async function filesOfFile(
  owner: SourceOwner,
  name: string,
  file: Buffer,
): Promise<ReadonlyMap<string, Uint8Array>> {
  try {
    if (owner.kind === 'PluginRef') return packageFiles(await readPluginArchive(file, owner.name));
    const form = isGzip(file) || isTar(file) ? 'archive' : 'document';
    return new Map((await projectFiles(form, name, file)).map((each) => [each.name, each.bytes]));
  } catch (error) {
    if (!(error instanceof ArchiveError || error instanceof PluginPackageError)) throw error;
    throw new SourceError('SourceInvalid', messageOf(error), { cause: error });
  }
}

const MODULE = 'plugin.wasm';
const MANIFEST = 'plugin.toml';
const CONFIG_SCHEMA = 'config-schema.json';

/** Returns the package as files, with a fixed name for the module. */
function packageFiles({ wasm, manifest, configSchema }: PluginPackage): ReadonlyMap<string, Uint8Array> {
  const files = new Map([[MODULE, wasm]]);
  if (manifest) files.set(MANIFEST, manifest);
  if (configSchema) files.set(CONFIG_SCHEMA, configSchema);
  return files;
}

/** Returns the package of stored files. */
export function keptPackage(files: ReadonlyMap<string, Uint8Array>, name: string): PluginPackage {
  const manifest = files.get(MANIFEST);
  const configSchema = files.get(CONFIG_SCHEMA);
  const wasm = files.get(MODULE) ?? new Uint8Array();
  return { wasm, name, ...(manifest ? { manifest } : {}), ...(configSchema ? { configSchema } : {}) };
}

/** Returns the bytes in memory; files may be views of the received file. */
export function sizeOf(files: ReadonlyMap<string, Uint8Array>, file?: Uint8Array): number {
  const others = [...files.values()].filter((bytes) => bytes !== file);
  return others.reduce((sum, bytes) => sum + bytes.length, file?.length ?? 0);
}
