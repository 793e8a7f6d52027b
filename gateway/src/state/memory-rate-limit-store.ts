/** Rate-limit windows in the process: sliding, exact, and bounded in memory. */
import { NOBODY, type OwnerPath } from '../shares/owner-path.ts';
import { SharedMap } from '../shares/shared-map.ts';
import { EXACT_QUOTA, type RateLimitResult, type RateLimitStore } from './rate-limit-store.ts';

export interface MemoryRateLimitOptions {
  /**
   * Buckets kept at once. Past it the oldest of the owner that has most is closed until its window has passed; that owner
   * gets no further one (`allowed` is false). Default 100,000.
   */
  readonly maxBuckets?: number;
  /** Milliseconds since the epoch, never going back. Default: the system's, on the monotonic clock. */
  readonly now?: () => number;
}

/** Weights of a bucket, and of a closed one. */
const OPEN = 4;
const CLOSED = 1;
/** Seconds after which to try again if there is no room for another bucket. */
const RETRY_CROWDED = 1;

const systemClock = () => performance.timeOrigin + performance.now();

export class MemoryRateLimitStore implements RateLimitStore {
  readonly immediate = true;
  readonly #now: () => number;
  readonly #buckets: SharedMap<Bucket>;

  constructor({ maxBuckets = 100_000, now = systemClock }: MemoryRateLimitOptions = {}) {
    this.#now = now;
    this.#buckets = new SharedMap({
      most: maxBuckets * OPEN,
      isSpent: (bucket) => bucket.emptyAt <= this.#now(),
      // For the owner of one bucket a fresh quota is not worth a flood, so its last one may be dropped whole.
      remains: (bucket, alone) => (alone || !bucket.close(this.#now()) ? null : { value: bucket, weight: CLOSED }),
    });
  }

  /** Buckets kept at present. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Never waits, so reading a window and taking from it is one step. */
  take(name: string, quota: number, windowSeconds: number, owner: OwnerPath = NOBODY): RateLimitResult {
    const now = this.#now();
    this.#forget(now);
    const known = this.#buckets.use(name);
    const bucket = known === undefined || known.isOver(now) ? new Bucket() : known;
    if (bucket !== known && !this.#buckets.set(name, bucket, owner, OPEN)) {
      return { allowed: false, remaining: 0, resetAt: now / 1000 + windowSeconds, retryAfter: RETRY_CROWDED };
    }
    return bucket.take(now, quota, windowSeconds * 1000);
  }

  /** Drops expired buckets, two a request, so that it keeps up with new ones. */
  #forget(now: number): void {
    for (let looked = 0; looked < 2; looked++) {
      const { oldest } = this.#buckets;
      if (oldest === null || oldest.value.emptyAt > now) return;
      this.#buckets.delete(oldest.key);
    }
  }
}

const NO_TIMES = new Float64Array(0);
const NO_COUNTS = new Uint32Array(0);

/** A ring of times and how many requests came at each. */
class Bucket {
  #times = new Float64Array(2);
  #counts = new Uint32Array(2);
  #head = 0;
  #length = 0;
  #total = 0;
  #isClosed = false;
  /** Time at which the bucket is empty, in milliseconds since the epoch. */
  emptyAt = 0;

  /**
   * Closes the bucket, which then keeps only its end: until then it allows nothing. Returns false if that has passed.
   */
  close(now: number): boolean {
    this.#isClosed = true;
    this.#times = NO_TIMES;
    this.#counts = NO_COUNTS;
    return this.emptyAt > now;
  }

  /** It was closed, and its window has passed. */
  isOver(now: number): boolean {
    return this.#isClosed && this.emptyAt <= now;
  }

  take(now: number, quota: number, windowMs: number): RateLimitResult {
    if (this.#isClosed) {
      const [resetAt, retryAfter] = [this.emptyAt / 1000, Math.max(0, this.emptyAt - now) / 1000];
      return { allowed: false, remaining: 0, resetAt, retryAfter };
    }
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
