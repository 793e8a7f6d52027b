/** Checks of the hook that a host function is called in, and objects that plugins open in `init`. */
import type { Binding, Call } from '../wasm/call/call.ts';
import { HostCallError } from '../wasm/call/host-call-error.ts';

/** Throws HostCallError if the function `name` is called in another hook than the one it is for. */
export function onlyIn(call: Call, hook: Call['hook'], name: string): void {
  if (call.hook !== hook) throw new HostCallError(`${name} is for ${hook}`);
}

/** Row of a host function that fills an InitSlot, without its meaning. */
export const OPENER = { signature: ':i', parameters: '() -> 0', declared: true } as const;

/** Place for an object in the state for a config: a plugin has it opened in `init`. */
export class InitSlot<T> {
  readonly #opener: string;
  #value: T | null = null;

  /** `opener`: name of the host function that fills it. */
  constructor(opener: string) {
    this.#opener = opener;
  }

  /** The opener's work: keeps the first object of a config, and returns 0. Throws HostCallError outside `init`. */
  open(call: Call, make: (binding: Binding) => T): number {
    onlyIn(call, 'init', this.#opener);
    this.#value ??= make(call.binding);
    return 0;
  }

  /** Returns the object, for the host function `user`. Throws HostCallError if the plugin has not opened it. */
  get(user: string): T {
    if (this.#value === null) throw new HostCallError(`${user}: call ${this.#opener} in init`);
    return this.#value;
  }
}
