/** Archives (`.tar.gz`) whose bytes depend on their content alone. */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';

export interface ArchiveEntry {
  readonly name: string;
  readonly mode: number;
  /** Bytes, or the file that has them. */
  readonly content: Uint8Array | { readonly file: string };
}

/** `epoch`: seconds since 1970, the time of every entry. */
export async function writeArchive(path: string, entries: readonly ArchiveEntry[], epoch: number): Promise<void> {
  const tar = pack();
  const written = pipeline(tar, createGzip(), createWriteStream(path));
  for (const { name, mode, content } of entries) {
    const size = content instanceof Uint8Array ? content.length : (await stat(content.file)).size;
    const entry = tar.entry({ name, mode, size, mtime: new Date(epoch * 1000), uid: 0, gid: 0 });
    if (content instanceof Uint8Array) entry.end(content);
    else await pipeline(createReadStream(content.file), entry);
  }
  tar.finalize();
  await written;
}

/** Every file of an archive, in its order. */
export async function readArchive(path: string): Promise<readonly (ArchiveEntry & { readonly content: Buffer })[]> {
  const entries: (ArchiveEntry & { readonly content: Buffer })[] = [];
  const tar = extract();
  const read = pipeline(createReadStream(path), createGunzip(), tar);
  for await (const entry of tar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) if (chunk instanceof Buffer) chunks.push(chunk);
    const { name, mode = 0o644, type } = entry.header;
    if (type === 'file') entries.push({ name, mode, content: Buffer.concat(chunks) });
  }
  await read;
  return entries;
}

/** Writes an archive again with the time of `epoch`. */
export async function withTime(path: string, epoch: number): Promise<void> {
  await writeArchive(path, await readArchive(path), epoch);
}
