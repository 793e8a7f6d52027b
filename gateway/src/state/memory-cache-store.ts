/** A cache in the process: bounded in bytes; the least recently used entry of the owner with most goes first. */
import { NOBODY, type OwnerPath } from '../shares/owner-path.ts';
import { SharedMap } from '../shares/shared-map.ts';
import type { CacheStore } from './cache-store.ts';

export interface MemoryCacheOptions {
  /** Bytes of keys and values kept at once. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds, never going back. Default: the monotonic clock. */
  readonly now?: () => number;
}

interface Entry {
  readonly value: Uint8Array;
  readonly until: number;
}

/** Cost of an entry besides its key and value, in bytes. */
const ENTRY_BYTES = 128;

export class MemoryCacheStore implements CacheStore {
  readonly immediate = true;
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #entries: SharedMap<Entry>;

  constructor({ maxBytes = 64 << 20, now = () => performance.now() }: MemoryCacheOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#now = now;
    this.#entries = new SharedMap({ most: maxBytes });
  }

  /** Bytes kept at present. */
  get bytes(): number {
    return this.#entries.weight;
  }

  get(key: string): Uint8Array | null {
    const entry = this.#entries.use(key);
    if (entry === undefined) return null;
    if (entry.until > this.#now()) return entry.value;
    this.#entries.delete(key);
    return null;
  }

  /** A value that is larger than the whole cache, or that would make its owner the one that has most at once, is not kept. */
  set(key: string, value: Uint8Array, ttlSeconds: number, owner: OwnerPath = NOBODY): void {
    this.#entries.delete(key);
    const bytes = key.length * 2 + value.length + ENTRY_BYTES;
    if (bytes > this.#maxBytes || ttlSeconds <= 0) return;
    this.#entries.set(key, { value, until: this.#now() + ttlSeconds * 1000 }, owner, bytes);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
