/** Limits the cost of an evaluation: expressions come from the operator, but their input from clients. */
import { type CelValue, isCelList, isCelMap } from '@bufbuild/cel';

/**
 * Steps of one evaluation: turns of a macro, calls of functions, and the length of their input. A step takes up to a
 * microsecond; an evaluation cannot be interrupted, so this is how long it may delay everything else.
 */
export const MOST_STEPS = 5_000;
/** Characters of text that count as a step. */
export const TEXT_STEP = 256;

/** The expression's work, as far as values decide how much it is, went past `MOST_STEPS`. */
export class CostExceeded extends Error {
  constructor() {
    super(`takes more than ${MOST_STEPS} steps`);
  }
}

export class Meter {
  #left = 0;

  /** An evaluation begins. */
  start(): void {
    this.#left = MOST_STEPS;
  }

  /** Steps so far. */
  get spent(): number {
    return MOST_STEPS - Math.max(this.#left, 0);
  }

  /** True also if the language has absorbed the error, as `||` does. */
  get exceeded(): boolean {
    return this.#left < 0;
  }

  /** Throws CostExceeded if fewer steps are left. */
  charge(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new CostExceeded();
  }

  /** Charges for a function that goes through all of a value. */
  chargeValue(value: CelValue): void {
    if (typeof value === 'string' || value instanceof Uint8Array) this.charge(Math.ceil(value.length / TEXT_STEP));
    else if (isCelList(value)) for (const each of value) this.#chargeInner(each);
    else if (isCelMap(value)) for (const each of value.values()) this.#chargeInner(each);
  }

  #chargeInner(value: CelValue): void {
    this.charge(1);
    this.chargeValue(value);
  }
}
