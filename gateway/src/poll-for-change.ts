/**
 * Notices changes of files by looking at them, not by the file system's events, which network file systems and the
 * links of Kubernetes volumes do not send.
 */

const LOOK_EVERY_MS = 1000;

/**
 * Calls `changed` when the fingerprint is another one than before, and the same at two looks in a row: what is still
 * being written is left alone. The next look comes when `changed` is done. A fingerprint that rejects is no change:
 * between two versions there may be none. Returns the function that ends it.
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
