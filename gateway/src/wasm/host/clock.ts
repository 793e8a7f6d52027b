/** The time. */
import type { HostFunctions } from './host-function.ts';

export const clockFunctions: HostFunctions = {
  time_now: { signature: ':d', make: () => () => Date.now() },
};
