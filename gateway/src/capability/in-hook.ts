/** Checks of the call that a function of a capability runs in. */
import type { Call } from '../wasm/call/call.ts';
import { HostCallError } from '../wasm/call/host-call-error.ts';

/** Throws HostCallError if the function `name` is called in another hook than the one it is for. */
export function onlyIn(call: Call, hook: Call['hook'], name: string): void {
  if (call.hook !== hook) throw new HostCallError(`${name} is for ${hook}`);
}

/**
 * Returns the value that the function `by` opens in `init`, for the function `name`. Throws HostCallError if it was not
 * opened.
 */
export function openedInInit<T>(value: T | null, name: string, by: string): T {
  if (value === null) throw new HostCallError(`${name}: call ${by} in init`);
  return value;
}
