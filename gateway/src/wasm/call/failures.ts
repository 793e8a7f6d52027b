/** Failures that end a call which the plugin did not end itself. */

import { Crowded } from '../../shares/fair-queue.ts';

/** The call used up its CPU time (docs/decisions.md#cpu-time-of-plugins). */
export class CpuExceeded extends Error {}

/** Reports whether that is why it failed, whatever was said around it. */
export function isCpuExceeded(error: unknown): boolean {
  return error instanceof CpuExceeded || (error instanceof Error && isCpuExceeded(error.cause));
}

/** No instance for the call: all are in use, and it or others like it hold their share of them. */
export class Overloaded extends Error {}

/** A host call waited past its deadline. */
export class WaitExceeded extends Error {}

/** Returns the error of a plugin's call whose client holds its share of a resource: 503 `overloaded`. Any other error is itself. */
export function overloadedIfCrowded(error: unknown): unknown {
  return error instanceof Crowded ? new Overloaded(error.message, { cause: error }) : error;
}
