/** A plugin package in one file: `.tar.gz` of plugin.toml, config-schema.json and the module, or the bare module. */
import { extract } from 'tar-stream';
import { ArtifactError } from '../artifact/error.ts';
import { decompress } from '../artifact/gzip.ts';
import { messageOf } from '../message-of.ts';
import { type PluginPackage, PluginPackageError, wasmFileOf } from './package.ts';

const MAX_UNPACKED_BYTES = 64 << 20;
const MAX_ENTRIES = 1000;

/** Told apart by content. `name`: of a plugin without plugin.toml. Rejects with PluginPackageError. */
export async function readPluginArchive(bytes: Buffer, name: string): Promise<PluginPackage> {
  if (bytes.toString('latin1', 0, 4) === '\0asm') return { wasm: bytes, name };
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
    throw new PluginPackageError('it is neither a WebAssembly module nor a .tar.gz');
  }
  const files = await unpack(bytes);
  const manifest = files.get('plugin.toml');
  if (!manifest) throw new PluginPackageError('the archive has no plugin.toml at its top, or in its only folder');
  const module = wasmFileOf(manifest.toString('utf8'));
  const wasm = files.get(module);
  if (!wasm) throw new PluginPackageError(`the archive has no ${module} beside plugin.toml`);
  const configSchema = files.get('config-schema.json');
  return { wasm, manifest, name, ...(configSchema ? { configSchema } : {}) };
}

/** Plain files, by their path in the archive or, where all lie in one folder, in that. */
async function unpack(bytes: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  let files: ReadonlyMap<string, Buffer>;
  try {
    files = await entriesOf(await decompress(bytes, MAX_UNPACKED_BYTES));
  } catch (error) {
    if (error instanceof PluginPackageError) throw error;
    const reason = error instanceof ArtifactError ? error.message : `it is no tar archive: ${messageOf(error)}`;
    throw new PluginPackageError(reason, { cause: error });
  }
  const tops = new Set([...files.keys()].map((file) => file.slice(0, file.indexOf('/') + 1)));
  const [top = ''] = tops;
  return tops.size === 1 ? new Map([...files].map(([file, content]) => [file.slice(top.length), content])) : files;
}

async function entriesOf(tar: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const archive = extract();
  archive.end(tar);
  let count = 0;
  for await (const entry of archive) {
    if (++count > MAX_ENTRIES) throw new PluginPackageError(`the archive has more than ${MAX_ENTRIES} entries`);
    const chunks: Buffer[] = [];
    for await (const chunk of entry) if (chunk instanceof Buffer) chunks.push(chunk);
    if (entry.header.type === 'file') files.set(entry.header.name.replace(/^(\.\/)+/, ''), Buffer.concat(chunks));
  }
  return files;
}
