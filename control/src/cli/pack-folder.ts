/** A folder of a spec and the files that it refers to, as the archive that the server takes. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';

/** Files that a document can refer to; others are not packed. */
const FILES = /\.(ya?ml|json)$/i;

/** Returns a tar of the YAML and JSON files below the folder; null if the path is a file. */
export async function packFolder(path: string): Promise<Buffer | null> {
  if (!(await stat(path)).isDirectory()) return null;
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && FILES.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (file) =>
        !relative(path, file)
          .split(sep)
          .some((part) => part.startsWith('.') || part === 'node_modules'),
    )
    .toSorted();
  if (files.length === 0) throw new Error(`${path} has no YAML or JSON files`);
  const archive = pack();
  for (const file of files) {
    const name = relative(path, file).replaceAll(sep, '/');
    archive.entry({ name, mtime: new Date(0), mode: 0o644 }, await readFile(file));
  }
  archive.finalize();
  return buffer(archive);
}
