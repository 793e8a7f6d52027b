/** Rate-limit windows in the process: sliding, exact, and bounded in memory. */
import { NOBODY, type OwnerPath } from '../shares/owner-path.ts';
import { SharedMap } from '../shares/shared-map.ts';
import { Bucket } from './rate-limit-bucket.ts';
import type { RateLimitResult, RateLimitStore } from './rate-limit-store.ts';

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
  /** Milliseconds since the epoch, never going back. */
  readonly now: () => number;
  readonly #buckets: SharedMap<Bucket>;

  constructor({ maxBuckets = 100_000, now = systemClock }: MemoryRateLimitOptions = {}) {
    this.now = now;
    this.#buckets = new SharedMap({
      most: maxBuckets * OPEN,
      isSpent: (bucket) => bucket.emptyAt <= this.now(),
      // For the owner of one bucket a fresh quota is not worth a flood, so its last one may be dropped whole.
      remains: (bucket, alone) => (alone || !bucket.close(this.now()) ? null : { value: bucket, weight: CLOSED }),
    });
  }

  /** Buckets kept at present. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Never waits, so reading a window and taking from it is one step. */
  take(name: string, quota: number, windowSeconds: number, owner: OwnerPath = NOBODY): RateLimitResult {
    const now = this.now();
    const bucket = this.open(name, now, owner);
    if (bucket !== null) return bucket.take(now, quota, windowSeconds * 1000);
    return this.crowded(now, windowSeconds);
  }

  /** The answer if there is no room for a bucket. */
  crowded(now: number, windowSeconds: number): RateLimitResult {
    return { allowed: false, remaining: 0, resetAt: now / 1000 + windowSeconds, retryAfter: RETRY_CROWDED };
  }

  /** Returns the bucket of this name, or a new one; null if its owner gets no further one. */
  open(name: string, now: number, owner: OwnerPath): Bucket | null {
    this.#forget(now);
    const known = this.#buckets.use(name);
    if (known !== undefined && !known.isOver(now)) return known;
    const bucket = new Bucket();
    return this.#buckets.set(name, bucket, owner, OPEN) ? bucket : null;
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
