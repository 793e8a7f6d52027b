/** Sliding windows that all instances share; declare `host_rate_limit_take`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * The remaining quota.
 *
 * @example
 * const result = RateLimit.take(text("tenant:acme"), 100, 60);
 * if (!result.allowed) Response.setRetryAfter(<i64>result.retryAfter);
 */
@unmanaged
export class RateLimitResult {
  /** False if the store is unavailable: then nothing was counted, and the other fields are meaningless. */
  available: bool = true;
  /** The request is within the quota. */
  allowed: bool = false;
  /** Requests left in the window. */
  remaining: f64 = 0;
  /** Unix time in seconds at which the whole quota is there again. */
  reset: f64 = 0;
  /** Seconds until a request would be allowed. */
  retryAfter: f64 = 0;
}

/**
 * @example
 * const result = RateLimit.take(text("tenant:acme"), 100, 60);
 * if (result.available && !result.allowed) return ANSWERED;
 */
export namespace RateLimit {
  /** Takes one from the bucket's window of `window` seconds; may wait. */
  export function take(bucket: Text, quota: i32, window: i32): RateLimitResult {
    const out = heap.alloc(32);
    return read(host.host_rate_limit_take(bucket.ptr, bucket.length, quota, window, out), out);
  }

  /**
   * The same, counted in this process alone: for while the shared store is away; declare `host_rate_limit_take_local`.
   * Not available without a shared store.
   */
  export function takeLocal(bucket: Text, quota: i32, window: i32): RateLimitResult {
    const out = heap.alloc(32);
    return read(host.host_rate_limit_take_local(bucket.ptr, bucket.length, quota, window, out), out);
  }
}

function read(taken: i32, out: usize): RateLimitResult {
  const result = new RateLimitResult();
  result.available = taken >= 0;
  result.allowed = taken > 0;
  if (!result.available) return result;
  result.remaining = load<f64>(out);
  result.reset = load<f64>(out, 8);
  result.retryAfter = load<f64>(out, 16);
  return result;
}
