/** Sources of an artifact: a file, a folder of parts (docs/decisions.md#artifact-in-parts), or bytes in memory. */

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../text/error-code.ts';
import { messageOf } from '../text/message-of.ts';
import { ArtifactError } from './error.ts';

/** Compressed bytes of an artifact; the unpacked content has its own limit. */
export const MAX_ARCHIVE_BYTES = 256 << 20;
const MAX_PARTS = 1000;

/** Throws ArtifactError: unreadable, empty, too large. */
export async function readSource(source: string | Uint8Array): Promise<Uint8Array> {
  if (typeof source !== 'string') return source;
  try {
    const files = await sourceFiles(source);
    const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    if (total > MAX_ARCHIVE_BYTES) {
      throw new ArtifactError('too-large', `artifact ${source} has ${total} bytes, more than ${MAX_ARCHIVE_BYTES}`);
    }
    const parts = await Promise.all(files.map((file) => readFile(file)));
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  } catch (error) {
    if (error instanceof ArtifactError) throw error;
    throw new ArtifactError('unreadable', `cannot read artifact ${source}: ${reasonOf(error)}`, { cause: error });
  }
}

/** The file, or the parts in a folder. Rejects with ArtifactError or the file system's error. */
export async function sourceFiles(source: string): Promise<readonly string[]> {
  return (await stat(source)).isDirectory() ? partsOf(source) : [source];
}

/** A ConfigMap volume shows its keys as links beside `..data` and time-stamped folders, which are not parts. */
async function partsOf(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
  if (names.length === 0) throw new ArtifactError('unreadable', `folder ${folder} holds no part of an artifact`);
  if (names.length > MAX_PARTS) {
    throw new ArtifactError(
      'too-large',
      `folder ${folder} holds more than ${MAX_PARTS} files: give the folder of one artifact`,
    );
  }
  return names.map((name) => join(folder, name));
}

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return 'there is no such file or folder';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'EISDIR') return 'a part is a folder';
  return messageOf(error);
}
