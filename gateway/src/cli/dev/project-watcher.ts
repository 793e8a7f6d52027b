/** Tells `gw dev` that something it has read is another now (docs/decisions.md#dev-watches-reads). */
import { type FSWatcher, watch } from 'node:fs';
import type { ReadPaths } from '../project/read-paths.ts';

/** Milliseconds from an event to the look that it causes: one look for many events. */
const LOOK_AFTER_MS = 20;
/**
 * Milliseconds between polls if the file system sends no events: network file systems, shared folders of containers.
 */
const LOOK_EVERY_MS = 2000;

export class ProjectWatcher {
  readonly #changed: () => void;
  readonly #debounceMs: number;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #looking: NodeJS.Timeout;
  #closed = false;
  #reads: ReadPaths | null = null;
  /** State after a change, until it has settled. */
  #pending: string | null = null;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;

  /** `changed` is called once for each set of paths that is followed. */
  constructor(debounceMs: number, changed: () => void) {
    this.#debounceMs = debounceMs;
    this.#changed = changed;
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  /** Follows these paths instead of the previous ones. Changes since they were noted count, too. */
  follow(reads: ReadPaths): void {
    if (this.#closed) return;
    this.#reads = reads;
    this.#pending = null;
    const wanted = reads.folders;
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#watch(folder);
    this.#look();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#looking);
    clearTimeout(this.#timer);
    clearTimeout(this.#soon);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#reads = null;
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, () => this.#lookSoon());
      // A folder that is removed, and a limit of the system: looking goes on.
      watcher.on('error', () => this.#unwatch(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      this.#unwatch(folder);
    }
  }

  #unwatch(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  #lookSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#look();
    }, LOOK_AFTER_MS);
  }

  /** A change counts when it has stayed the same for a while. */
  #look(): void {
    const reads = this.#reads;
    if (!reads) return;
    const now = reads.now();
    const pending = now === reads.before ? null : now;
    if (pending === this.#pending) return;
    this.#pending = pending;
    clearTimeout(this.#timer);
    if (pending !== null) this.#timer = setTimeout(() => this.#report(), this.#debounceMs);
  }

  #report(): void {
    this.#reads = null;
    // A folder that was made anew is another one for the system.
    for (const folder of [...this.#watchers.keys()]) this.#unwatch(folder);
    this.#changed();
  }
}
