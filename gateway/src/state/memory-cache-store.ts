/** A cache in the process: bounded in bytes, least recently used first out. */
import type { CacheStore } from './cache-store.ts';

export interface MemoryCacheOptions {
  /** Bytes of keys and values kept at once. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds, never going back. Default: the monotonic clock. */
  readonly now?: () => number;
}

interface Entry {
  readonly value: Uint8Array;
  readonly bytes: number;
  readonly until: number;
}

/** What an entry costs beside its key and value. */
const ENTRY_BYTES = 128;

export class MemoryCacheStore implements CacheStore {
  readonly immediate = true;
  readonly #maxBytes: number;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor({ maxBytes = 64 << 20, now = () => performance.now() }: MemoryCacheOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** Bytes kept at present. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Uint8Array | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    this.#entries.delete(key);
    if (entry.until <= this.#now()) {
      this.#bytes -= entry.bytes;
      return null;
    }
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** What is larger than the whole cache is not kept. */
  set(key: string, value: Uint8Array, ttlSeconds: number): void {
    this.delete(key);
    const bytes = key.length * 2 + value.length + ENTRY_BYTES;
    if (bytes > this.#maxBytes || ttlSeconds <= 0) return;
    this.#entries.set(key, { value, bytes, until: this.#now() + ttlSeconds * 1000 });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}
