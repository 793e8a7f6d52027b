/** The time. */
import type { HostFunctions } from '../call/host-function.ts';

export const clockFunctions: HostFunctions = {
  time_now: { signature: ':d', make: () => () => Date.now() },
};
