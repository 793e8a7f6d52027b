/**
 * The limit on the work of matching and validating, for any text, pattern and schema
 * (docs/decisions.md#patterns-bounded, docs/decisions.md#validation-in-helpers).
 *
 * Steps count the work of patterns, against the option. Units, of about a nanosecond each, count all work: they decide
 * when to look at the clock, and the clock decides whether the work may go on here.
 */

/** Steps for each byte that is matched, besides those of the option. */
const STEPS_A_BYTE = 100;
/** Default number of steps: for work outside of requests. */
export const DEFAULT_STEPS = 1_000_000;
/** Units between two looks at the clock. */
const SLICE = 100_000;
/** Units of a step of a pattern that needs backtracking. */
const UNITS_A_STEP = 20;
/** Units that may be spent for each step that may be taken: counted, so that the same work always ends at the same place. */
const UNITS_FOR_A_STEP = 50;

/** Time limit of work in the current thread. */
export interface TimeLimit {
  /** Milliseconds after which the work ends with TimeExceeded. */
  readonly ms: number;
  /** Units of the longest piece of work that cannot be interrupted. */
  readonly piece: number;
}

/** Units of the longest piece of work on the event loop: about 5 ms. */
export const MOST_INLINE_UNITS = 5_000_000;

const NO_TIME_LIMIT: TimeLimit = { ms: Number.POSITIVE_INFINITY, piece: Number.POSITIVE_INFINITY };

/** Thrown by work that needs more steps than are left. */
export class StepsExceeded extends Error {
  constructor(message = 'takes more steps to validate than a request may') {
    super(message);
  }
}

/** Thrown if work exceeds the time limit of its thread: it can start over in a helper process. */
export class TimeExceeded extends StepsExceeded {
  constructor() {
    super('takes more time to validate than a request may');
  }
}

/** Steps and time that one request may still take. Validating is synchronous, so that one at a time is under way. */
export class StepBudget {
  /** Units until the next look at the clock. Generated validators count it down, and call `look` below zero. */
  units = SLICE;
  /** Another value is validated, or the same after a change: results remembered for the last one are invalid. */
  round = 0;
  readonly #most: number;
  #given = 0;
  #left = Number.POSITIVE_INFINITY;
  #unitsLeft = Number.POSITIVE_INFINITY;
  #limit = NO_TIME_LIMIT;
  /** Null until the first look. */
  #until: number | null = null;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * `used`: steps that the request has taken before; `bytes`: length of the text that is matched now; `limit`: time
   * that the work may take here. Default: until its steps are used up.
   */
  begin(used: number, bytes: number, limit = NO_TIME_LIMIT): void {
    this.#given = this.#most + bytes * STEPS_A_BYTE;
    this.#left = this.#given - used;
    this.#unitsLeft = this.#given * UNITS_FOR_A_STEP;
    this.#limit = limit;
    this.#until = null;
    this.units = SLICE;
    this.round++;
  }

  /** Steps that the request has taken since it began. */
  get used(): number {
    return this.#given - this.#left;
  }

  /** Counts steps of a pattern. Throws StepsExceeded if fewer are left. */
  take(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new StepsExceeded();
    this.work(steps * UNITS_A_STEP);
  }

  /** Counts work that is under way. Throws StepsExceeded or TimeExceeded. */
  work(units: number): void {
    this.units -= units;
    if (this.units < 0) this.look();
  }

  /**
   * Admits work that cannot be interrupted once it has begun. Throws TimeExceeded if it is too long for this thread.
   */
  admit(units: number): void {
    if (units > this.#limit.piece) throw new TimeExceeded();
  }

  /** Throws StepsExceeded if the units are used up, and TimeExceeded if the time is. */
  look(): void {
    this.#unitsLeft -= SLICE - this.units;
    this.units = SLICE;
    if (this.#unitsLeft < 0) throw new StepsExceeded();
    const { ms } = this.#limit;
    if (ms === Number.POSITIVE_INFINITY) return;
    const now = performance.now();
    if (this.#until === null) this.#until = now + ms;
    else if (now > this.#until) throw new TimeExceeded();
  }
}
