/** The port behind which rate-limit windows live: in the process, shared between workers, or in Redis. */

export interface RateLimitResult {
  readonly allowed: boolean;
  /** Requests left in the window. */
  readonly remaining: number;
  /** Unix time in seconds at which the whole quota is there again. */
  readonly resetAt: number;
  /** Seconds until a request would be allowed; 0 where this one was. */
  readonly retryAfter: number;
}

export interface RateLimitStore {
  /** `take` never answers with a promise, so that a plugin that asks need not be made to wait. */
  readonly immediate?: boolean;
  /** Takes one from the bucket's sliding window of `windowSeconds`, exactly, however many ask at once. */
  take(bucket: string, quota: number, windowSeconds: number): RateLimitResult | Promise<RateLimitResult>;
}
