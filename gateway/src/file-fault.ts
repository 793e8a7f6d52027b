/** Whether a file that was found in a folder is the folder's own (docs/decisions.md#references-stay-inside). */
import { realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';

/**
 * Null for a plain file, and for a link to one that lies in the folder, as volumes of ConfigMaps have them. Else what is
 * wrong: a link would show what lies elsewhere, and a pipe would be read for ever. Throws the file system's error.
 */
export function fileFault(folder: string, path: string): string | null {
  const root = realpathSync(folder);
  const real = realpathSync(path);
  const inside = root.endsWith(sep) ? root : root + sep;
  if (!real.startsWith(inside)) return `it is a link that leads out of ${folder}: put the file itself there`;
  return statSync(real).isFile() ? null : 'it is not a file';
}
