/**
 * Notices changes of files by looking at them, not by the file system's events, which network file systems and the
 * links of Kubernetes volumes do not send.
 */
import type { Stats } from 'node:fs';

const LOOK_EVERY_MS = 1000;

/** Returns what changes if a file is replaced or written: for a fingerprint of files. */
export function fileStamp(path: string, { dev, ino, size, mtimeMs }: Stats): string {
  return [path, dev, ino, size, mtimeMs].join();
}

/**
 * Calls `changed` when the fingerprint differs from the last one, and is the same in two polls in a row: files still
 * being written are left alone. The next poll comes when `changed` is done. A rejection is not a change: between two
 * versions the files may be missing. Returns the function that ends it.
 */
export function pollForChange(fingerprint: () => Promise<string>, changed: () => Promise<void>): () => void {
  let known: string | null = null;
  let seen = '';
  let stopped = false;
  let timer: NodeJS.Timeout;

  async function look(): Promise<void> {
    let now: string;
    try {
      now = await fingerprint();
    } catch {
      return;
    }
    known ??= now;
    if (now !== known && now === seen) {
      known = now;
      await changed();
    }
    seen = now;
  }

  function next(): void {
    timer = setTimeout(() => {
      void look().then(() => {
        if (!stopped) next();
      });
    }, LOOK_EVERY_MS).unref();
  }

  void look().then(next);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
