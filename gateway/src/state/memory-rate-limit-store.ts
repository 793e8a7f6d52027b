/** Rate-limit windows in the process: sliding, exact, and bounded in memory. */
import { EXACT_QUOTA, type RateLimitResult, type RateLimitStore } from './rate-limit-store.ts';

export interface MemoryRateLimitOptions {
  /** Buckets kept at once; past it the one unused for longest is forgotten, and its quota is whole again. Default 100,000. */
  readonly maxBuckets?: number;
  /** Milliseconds since the epoch, never going back. Default: the system's, on the monotonic clock. */
  readonly now?: () => number;
}

const systemClock = () => performance.timeOrigin + performance.now();

export class MemoryRateLimitStore implements RateLimitStore {
  readonly immediate = true;
  readonly #maxBuckets: number;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor({ maxBuckets = 100_000, now = systemClock }: MemoryRateLimitOptions = {}) {
    this.#maxBuckets = maxBuckets;
    this.#now = now;
  }

  /** Buckets kept at present. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Never waits, so nothing comes between reading a window and taking from it. */
  take(name: string, quota: number, windowSeconds: number): RateLimitResult {
    const now = this.#now();
    const bucket = this.#buckets.get(name) ?? new Bucket();
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    this.#forget(now);
    return bucket.take(now, quota, windowSeconds * 1000);
  }

  /** Drops what has run out, two a request, so that it keeps up with what is added; and what exceeds the cap. */
  #forget(now: number): void {
    let looked = 0;
    for (const [name, bucket] of this.#buckets) {
      const over = this.#buckets.size > this.#maxBuckets;
      if (!over && (looked++ === 2 || bucket.emptyAt > now)) return;
      if (this.#buckets.size === 1) return;
      this.#buckets.delete(name);
    }
  }
}

/** A ring of times and how many requests came at each. */
class Bucket {
  #times = new Float64Array(2);
  #counts = new Uint32Array(2);
  #head = 0;
  #length = 0;
  #total = 0;
  /** When nothing of it is left, in milliseconds since the epoch. */
  emptyAt = 0;

  take(now: number, quota: number, windowMs: number): RateLimitResult {
    const grain = quota <= EXACT_QUOTA ? 0 : windowMs / EXACT_QUOTA;
    const lasts = windowMs + grain;
    this.#expire(now - lasts);
    const allowed = this.#total < quota;
    if (allowed) {
      this.#add(now, grain);
      this.emptyAt = now + lasts;
    }
    const oldest = this.#times[this.#head] ?? now;
    return {
      allowed,
      remaining: Math.max(0, quota - this.#total),
      resetAt: (this.#length === 0 ? now : this.emptyAt) / 1000,
      retryAfter: allowed ? 0 : Math.max(0, oldest + lasts - now) / 1000,
    };
  }

  #expire(before: number): void {
    const mask = this.#times.length - 1;
    while (this.#length > 0 && (this.#times[this.#head] ?? 0) <= before) {
      this.#total -= this.#counts[this.#head] ?? 0;
      this.#head = (this.#head + 1) & mask;
      this.#length--;
    }
  }

  #add(now: number, grain: number): void {
    const last = (this.#head + this.#length - 1) & (this.#times.length - 1);
    this.#total++;
    if (this.#length > 0 && now - (this.#times[last] ?? 0) <= grain) {
      this.#counts[last] = (this.#counts[last] ?? 0) + 1;
      return;
    }
    if (this.#length === this.#times.length) this.#grow();
    const next = (this.#head + this.#length) & (this.#times.length - 1);
    this.#times[next] = now;
    this.#counts[next] = 1;
    this.#length++;
  }

  #grow(): void {
    const size = this.#times.length;
    const times = new Float64Array(size * 2);
    const counts = new Uint32Array(size * 2);
    for (let i = 0; i < this.#length; i++) {
      const from = (this.#head + i) & (size - 1);
      times[i] = this.#times[from] ?? 0;
      counts[i] = this.#counts[from] ?? 0;
    }
    this.#times = times;
    this.#counts = counts;
    this.#head = 0;
  }
}
