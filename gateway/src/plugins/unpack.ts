/** The plain files of an archive that comes from elsewhere, within limits that it cannot pass; and back again. */
import { extract } from 'tar-stream';
import { ArtifactError } from '../artifact/error.ts';
import { compress, decompress } from '../artifact/gzip.ts';
import { writeTar } from '../artifact/tar.ts';
import { messageOf } from '../text/message-of.ts';

const MAX_UNPACKED_BYTES = 64 << 20;
const MAX_ENTRIES = 1000;

/** The fault of an archive, in one line. */
export class ArchiveError extends Error {}

/** Recognises files by their first bytes; a tar by its magic number. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export function isTar(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(257, 262)).toString('latin1') === 'ustar';
}

/**
 * Unpacks a tar, gzipped or not: contents by name, without `./` before it. At most 64 MiB and 1,000 entries, only plain
 * files and folders, and no name twice. Names are as the archive has them. Rejects with ArchiveError.
 */
export async function unpack(bytes: Uint8Array): Promise<ReadonlyMap<string, Buffer>> {
  try {
    return await entriesOf(await tarOf(bytes));
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    const reason = error instanceof ArtifactError ? error.message : `it is not a tar archive: ${messageOf(error)}`;
    throw new ArchiveError(reason, { cause: error });
  }
}

/** Packs the files in a tar again, gzipped if `gzip` is set. */
export async function repack(files: ReadonlyMap<string, Uint8Array>, gzip: boolean): Promise<Buffer> {
  const tar = await writeTar([...files].map(([name, bytes]) => ({ name, bytes })));
  return gzip ? compress(tar) : tar;
}

async function tarOf(bytes: Uint8Array): Promise<Buffer> {
  if (isGzip(bytes)) return decompress(bytes, MAX_UNPACKED_BYTES);
  if (bytes.length > MAX_UNPACKED_BYTES) throw new ArchiveError(`it has more than ${MAX_UNPACKED_BYTES} bytes`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

async function entriesOf(tar: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const archive = extract();
  archive.end(tar);
  let count = 0;
  for await (const entry of archive) {
    if (++count > MAX_ENTRIES) throw new ArchiveError(`the archive has more than ${MAX_ENTRIES} entries`);
    const chunks: Buffer[] = [];
    for await (const chunk of entry) if (chunk instanceof Buffer) chunks.push(chunk);
    const { type, name: given } = entry.header;
    if (type === 'directory') continue;
    const name = given.replace(/^(\.\/)+/, '');
    if (type !== 'file') {
      throw new ArchiveError(
        `${JSON.stringify(name.slice(0, 200))} in it is not a regular file (${type}): include the file itself`,
      );
    }
    if (files.has(name)) throw new ArchiveError(`${JSON.stringify(name.slice(0, 200))} occurs in it twice`);
    files.set(name, Buffer.concat(chunks));
  }
  return files;
}
