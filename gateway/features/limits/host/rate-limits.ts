/** `host_rate_limit_take`: counters that every instance, worker or pod shares. */

import { hash } from 'node:crypto';
import {
  type Call,
  capability,
  HostCallError,
  networkOf,
  type RateLimitResult,
  type RateLimitStore,
  StateUnavailable,
} from '../../kit.ts';

const ALLOWED = 1;
const REFUSED = 0;
/** The store is unavailable: the plugin decides how to answer. */
const UNAVAILABLE = -1;

/** Counters that live elsewhere must answer within this. */
const DEADLINE_MS = 5_000;

export const rateLimits = capability({
  open: ({ state }) => state,
  /** Tells its policy from others, whatever names its buckets have. */
  bind: (_, config) => hash('sha256', JSON.stringify(config.whole), 'base64url').slice(0, 16),
  functions: {
    host_rate_limit_take: {
      signature: 'iiiii:i',
      parameters: '(bucket, len, quota, window, out) -> allowed',
      meaning:
        'takes one from a sliding window of `window` seconds, of a bucket that the configs of this plugin share; writes four f64 at `out`: remaining, reset (Unix seconds), retry-after (seconds), quota; -1 if the store is unavailable',
      waits: (state) => state.rateLimits.immediate !== true,
      declared: true,
      make: (call, { loaded, bound }) => {
        const { rateLimits: store } = loaded;
        return taking('host_rate_limit_take', call, bound, store);
      },
    },
    host_rate_limit_take_local: {
      signature: 'iiiii:i',
      parameters: '(bucket, len, quota, window, out) -> allowed',
      meaning:
        'as `host_rate_limit_take`, counted in this process alone, for use while the shared store is unavailable. -1 if no shared store is configured',
      declared: true,
      make: (call, { loaded, bound }) => {
        const { localRateLimits: store } = loaded;
        return taking('host_rate_limit_take_local', call, bound, store ?? null);
      },
    },
  },
});

function taking(name: string, call: Call, policy: () => string, store: RateLimitStore | null) {
  const write = (result: RateLimitResult | null, quota: number, out: number): number => {
    if (result === null) return UNAVAILABLE;
    const { allowed, remaining, resetAt, retryAfter } = result;
    call.memory.writeDoubles([remaining, resetAt, retryAfter, quota], out);
    return allowed ? ALLOWED : REFUSED;
  };
  return (bucket: number, length: number, quota: number, window: number, out: number) => {
    if (quota < 1 || window < 1) throw new HostCallError(`${name}: quota and window must be 1 or more`);
    const exchange = call.request();
    call.charge(length);
    if (store === null) return UNAVAILABLE;
    const { name: plugin } = call.binding;
    // No plugin takes from the buckets of another one.
    const key = `${plugin}:${call.memory.text(bucket, length)}`;
    const owner = [`${plugin} ${policy()}`, ...networkOf(exchange)];
    const result = store.take(key, quota, window, owner);
    if (!(result instanceof Promise)) return write(result, quota, out);
    return call.wait(result.catch(nullWhereAway), DEADLINE_MS, (taken) => write(taken, quota, out));
  };
}

function nullWhereAway(error: unknown): null {
  if (error instanceof StateUnavailable) return null;
  throw error;
}
