/** `checksums.txt`: SHA-256 of every file, as `sha256sum --check` reads it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CHECKSUMS, PUSHED, releaseFiles, SIGNATURE } from './files.ts';
import type { ReleaseOptions } from './options.ts';

export async function writeChecksums({ out }: ReleaseOptions): Promise<void> {
  const files = await releaseFiles(out, [CHECKSUMS, SIGNATURE, PUSHED]);
  await writeFile(join(out, CHECKSUMS), files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''));
}
