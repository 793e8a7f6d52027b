/**
 * How much work matching may be: the bound that no text and no pattern gets around
 * (docs/decisions.md#patterns-bounded).
 */

/** Steps for each byte that is matched, besides those of the option. */
const STEPS_A_BYTE = 100;
/** Where nothing says how many: what is no part of a request. */
export const DEFAULT_STEPS = 1_000_000;

/** Thrown by a match that needs more steps than are left. */
export class StepsExceeded extends Error {
  constructor() {
    super('takes more steps to validate than a request may');
  }
}

/** Steps that one request may still take. Matching is synchronous, so that one at a time is under way. */
export class StepBudget {
  readonly #most: number;
  #given = 0;
  #left = Number.POSITIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
  }

  /** `used`: what the request has taken before; `bytes`: how long is what is matched now. */
  begin(used: number, bytes: number): void {
    this.#given = this.#most + bytes * STEPS_A_BYTE;
    this.#left = this.#given - used;
  }

  /** What the request has taken since it began. */
  get used(): number {
    return this.#given - this.#left;
  }

  /** Throws StepsExceeded where there are not so many. */
  take(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new StepsExceeded();
  }
}
