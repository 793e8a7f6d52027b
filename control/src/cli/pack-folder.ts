/** A folder of a spec and the files that it refers to, as the archive that the server takes. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isProjectFile } from '@gw/gateway/project-files';
import { pack } from 'tar-stream';

/** Returns a tar of the project's files below the folder; null if the path is a file. */
export async function packFolder(path: string): Promise<Buffer | null> {
  if (!(await stat(path)).isDirectory()) return null;
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => isProjectFile(nameIn(path, file)))
    .toSorted();
  if (files.length === 0) throw new Error(`${path} has no YAML or JSON files`);
  const archive = pack();
  for (const file of files) {
    archive.entry({ name: nameIn(path, file), mtime: new Date(0), mode: 0o644 }, await readFile(file));
  }
  archive.finalize();
  return buffer(archive);
}

function nameIn(folder: string, file: string): string {
  return relative(folder, file).replaceAll(sep, '/');
}
