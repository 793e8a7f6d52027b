/** The error of a plugin's call whose client holds its share of a resource: 503 `overloaded`. */
import { Crowded } from '../shares/fair-queue.ts';
import { Overloaded } from '../wasm/call/failures.ts';

/** Any other error is itself. */
export function overloadedIfCrowded(error: unknown): unknown {
  return error instanceof Crowded ? new Overloaded(error.message, { cause: error }) : error;
}
