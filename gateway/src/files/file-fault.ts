/** Decides whether a file that was found in a folder is the folder's own (docs/decisions.md#references-stay-inside). */
import { realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';

/**
 * Returns null for a plain file, and for a link to one in the folder, as volumes of ConfigMaps have them. Otherwise
 * returns the fault: a link could expose files elsewhere, and a pipe would be read forever. Throws the file system's
 * error.
 */
export function fileFault(folder: string, path: string): string | null {
  const root = realpathSync(folder);
  const real = realpathSync(path);
  const inside = root.endsWith(sep) ? root : root + sep;
  if (!real.startsWith(inside)) return `it is a link that leads out of ${folder}: put the file itself there`;
  return statSync(real).isFile() ? null : 'it is not a file';
}
