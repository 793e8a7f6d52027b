/** The port behind which rate-limit windows live: in the process, shared between workers, or in Redis. */

import type { OwnerPath } from '../shares/owner-path.ts';

export interface RateLimitResult {
  readonly allowed: boolean;
  /** Requests left in the window. */
  readonly remaining: number;
  /** Unix time in seconds at which the whole quota is there again. */
  readonly resetAt: number;
  /** Seconds until a request would be allowed; 0 if this one was. */
  readonly retryAfter: number;
}

/**
 * Up to this quota every request is kept by itself, and the window is exact. Above it, times are kept to 1/1024 of
 * the window and count until the latest they may mean: never is more than the quota admitted in any window.
 */
export const EXACT_QUOTA = 1024;

export interface RateLimitStore {
  /** `take` never answers with a promise, so that a plugin that asks need not be made to wait. */
  readonly immediate?: boolean;
  /**
   * Takes one from the bucket's sliding window of `windowSeconds`, exactly, for any number of concurrent calls.
   * `owner`: owner that a new bucket counts for: the one with most gets no more, and others' buckets are kept. Default:
   * nobody.
   */
  take(
    bucket: string,
    quota: number,
    windowSeconds: number,
    owner?: OwnerPath,
  ): RateLimitResult | Promise<RateLimitResult>;
}
