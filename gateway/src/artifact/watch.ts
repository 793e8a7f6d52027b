/**
 * Notices that an artifact has been replaced: a file, or a folder of parts, also where a Kubernetes volume swaps a
 * link. By looking, not by the file system's events, which network file systems and links do not send.
 */
import { stat } from 'node:fs/promises';
import { sourceFiles } from './source.ts';

const LOOK_EVERY_MS = 1000;

/** Device, inode, size and time of each file: what a replacement changes. Rejects where a file cannot be read. */
async function fingerprint(source: string): Promise<string> {
  const files = await sourceFiles(source);
  const stats = await Promise.all(files.map((file) => stat(file)));
  return files
    .map((file, i) => [file, stats[i]?.dev, stats[i]?.ino, stats[i]?.size, stats[i]?.mtimeMs].join())
    .join('\n');
}

/**
 * Calls `changed` when the source is another one than before, and the same at two looks in a row: one that is still
 * being written is left alone. The next look comes when `changed` is done. Returns the function that ends it.
 */
export function watchSource(source: string, changed: () => Promise<void>): () => void {
  let known: string | null = null;
  let seen = '';
  let stopped = false;
  let timer: NodeJS.Timeout;

  async function look(): Promise<void> {
    let now: string;
    try {
      now = await fingerprint(source);
    } catch {
      // Between two files there may be none; what is not there is not a new artifact.
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
