/** `host_rate_limit_take`: counters that every instance, worker or pod shares. */
import type { RateLimitResult } from '../../state/rate-limit-store.ts';
import { HostCallError } from '../failures.ts';
import type { HostFunctions } from './host-function.ts';

/** Counters that live elsewhere must answer within this. */
const DEADLINE_MS = 5_000;

export const rateLimitFunctions: HostFunctions = {
  host_rate_limit_take: {
    signature: 'iiiii:i',
    waits: true,
    declared: true,
    make: (call) => (bucket, length, quota, window, out) => {
      if (quota < 1 || window < 1) throw new HostCallError('host_rate_limit_take: quota and window must be 1 or more');
      call.request();
      call.charge(length);
      const write = ({ allowed, remaining, resetAt, retryAfter }: RateLimitResult): number => {
        call.memory.writeDoubles([remaining, resetAt, retryAfter, quota], out);
        return allowed ? 1 : 0;
      };
      const result = call.binding.services.rateLimits.take(call.memory.text(bucket, length), quota, window);
      return result instanceof Promise ? call.wait(result, DEADLINE_MS, write) : write(result);
    },
  },
};
