/** `host_rate_limit_take`: counters that every instance, worker or pod shares. */

import { hash } from 'node:crypto';
import { capability } from '../../capability/capability.ts';
import { networkOf } from '../../shares/owner.ts';
import type { RateLimitResult } from '../../state/rate-limit-store.ts';
import { StateUnavailable } from '../../state/state.ts';
import { HostCallError } from '../../wasm/call/host-call-error.ts';

const ALLOWED = 1;
const REFUSED = 0;
/** The store is away: the plugin decides what that means. */
const UNAVAILABLE = -1;

/** Counters that live elsewhere must answer within this. */
const DEADLINE_MS = 5_000;

export const rateLimits = capability({
  open: ({ state }) => state,
  /** What tells its policy from others, whatever names its buckets have. */
  bind: (_, config) => hash('sha256', JSON.stringify(config.whole), 'base64url').slice(0, 16),
  functions: {
    host_rate_limit_take: {
      signature: 'iiiii:i',
      parameters: '(bucket, len, quota, window, out) -> allowed',
      meaning:
        'takes one from a sliding window of `window` seconds; writes four f64 at `out`: remaining, reset (Unix seconds), retry-after (seconds), quota; -1 if the store is unavailable',
      waits: (state) => state.rateLimits.immediate !== true,
      declared: true,
      make:
        (call, { loaded, bound }) =>
        (bucket, length, quota, window, out) => {
          if (quota < 1 || window < 1)
            throw new HostCallError('host_rate_limit_take: quota and window must be 1 or more');
          const x = call.request();
          call.charge(length);
          const write = (result: RateLimitResult | null): number => {
            if (result === null) return UNAVAILABLE;
            const { allowed, remaining, resetAt, retryAfter } = result;
            call.memory.writeDoubles([remaining, resetAt, retryAfter, quota], out);
            return allowed ? ALLOWED : REFUSED;
          };
          const result = loaded.rateLimits.take(call.memory.text(bucket, length), quota, window, [
            `${call.binding.name} ${bound()}`,
            ...networkOf(x),
          ]);
          return result instanceof Promise ? call.wait(result.catch(nullWhereAway), DEADLINE_MS, write) : write(result);
        },
    },
  },
});

function nullWhereAway(error: unknown): null {
  if (error instanceof StateUnavailable) return null;
  throw error;
}
