/** Notices that files of the secrets directory have changed (`GW_SECRETS_DIR`), also if a kubelet swaps a link. */
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pollForChange } from '../files/poll-for-change.ts';

/** Most files, and levels below: a directory that was named by mistake may be a whole disk. */
const MOST_FILES = 1000;
const MOST_DEPTH = 4;

/** Returns files and the targets of links, in the order of names; those past the limit are ignored. */
async function files(dir: string, depth: number, found: string[]): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(dir)) {
    if (names.push(entry.name) >= MOST_FILES) break;
  }
  for (const name of names.sort()) {
    if (found.length >= MOST_FILES) break;
    const path = join(dir, name);
    const kind = await stat(path).catch(() => null);
    // A broken link: its file has gone.
    if (kind === null) found.push(path);
    else if (kind.isDirectory() && depth < MOST_DEPTH) await files(path, depth + 1, found);
    else if (kind.isFile()) found.push([path, kind.dev, kind.ino, kind.size, kind.mtimeMs].join());
  }
  return found;
}

/** Calls `changed` when a file of the directory has, as `pollForChange` does. Returns the function that ends it. */
export function watchSecrets(dir: string, changed: () => Promise<void>): () => void {
  return pollForChange(async () => (await files(dir, 0, [])).join('\n'), changed);
}
