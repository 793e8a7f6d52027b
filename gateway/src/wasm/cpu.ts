/** CPU time of calls: how much fuel a millisecond is worth, how long a call has run, and when it has to wait or stop. */
import { CpuExceeded } from './failures.ts';
import { nextTurn } from './turns.ts';

/** Milliseconds after which a call lets the event loop turn (D31). */
const SLICE_MS = 1;
/** Fuel a millisecond before anything has been measured: unoptimised code on a slow machine. */
const FIRST_RATE = 200_000;
const LEAST_RATE = 5_000;
const MOST_RATE = 20_000_000;
/**
 * What a slice counts at most, in milliseconds: what took longer was not the plugin's doing but the machine's (a
 * throttled container, a busy neighbour). The first one in a call may be longer, since what its code does is not known
 * yet. The operating system's own count of CPU time would be exact, but goes by ticks of 4 ms on many machines.
 */
const MOST_OF_SLICE_MS = 2 * SLICE_MS;
const MOST_OF_FIRST_MS = 5 * SLICE_MS;

/** What a module's code burns in a millisecond, learnt from its slices; one for each module. */
export class FuelRate {
  perSlice = FIRST_RATE * SLICE_MS;

  learn(burned: number, ms: number): void {
    // Short runs say more about the clock than about the code.
    if (ms < 0.1) return;
    const rate = (burned / ms) * SLICE_MS;
    const next = (this.perSlice + rate) / 2;
    this.perSlice = Math.round(Math.min(Math.max(next, LEAST_RATE), MOST_RATE));
  }
}

/** The clock of one call. Time spent waiting is not counted. */
export class CpuClock {
  readonly #rate: FuelRate;
  /** The call went on past a slice without letting the event loop turn, as it could not be suspended. */
  overran = false;
  #limitMs = 0;
  /** Milliseconds before the slice that runs now. */
  #spentMs = 0;
  #since = 0;
  /** What the slice counts at most. */
  #mostMs = MOST_OF_FIRST_MS;
  #given = 0;
  /** Fuel given out in this slice before the last helping. */
  #burned = 0;
  /** Whether all that was burned in this slice is known: not after a wait in the middle of it. */
  #measurable = true;

  constructor(rate: FuelRate) {
    this.#rate = rate;
  }

  /** Starts a call; returns its first fuel. */
  start(limitMs: number): number {
    this.#limitMs = limitMs;
    this.#spentMs = 0;
    this.overran = false;
    this.#mostMs = MOST_OF_FIRST_MS;
    return this.#slice();
  }

  #slice(): number {
    this.#since = performance.now();
    this.#burned = 0;
    this.#measurable = true;
    this.#given = this.#rate.perSlice;
    return this.#given;
  }

  /** Milliseconds of CPU since the slice began. */
  #used(): number {
    return Math.min(performance.now() - this.#since, this.#mostMs);
  }

  /** A wait begins. */
  pause(): void {
    this.#spentMs += this.#used();
  }

  /** A wait is over. */
  resume(): void {
    this.#since = performance.now();
    this.#mostMs = MOST_OF_FIRST_MS;
    this.#measurable = false;
  }

  /** Ends a call; milliseconds of CPU that it took. */
  stop(): number {
    return this.#spentMs + this.#used();
  }

  /**
   * The fuel is gone, and `left` (below zero) beyond it: more of it, at once or, where the call may be suspended, after
   * the event loop has turned. `check` throws where nobody waits for the result any more. Throws CpuExceeded past the
   * limit.
   */
  refuel(left: number, check: () => void, suspends: boolean): number | Promise<number> {
    const used = this.#used();
    this.#burned += this.#given - left;
    if (this.#measurable) this.#rate.learn(this.#burned, used);
    if (this.#spentMs + used > this.#limitMs) {
      throw new CpuExceeded(`used its ${this.#limitMs} ms of CPU time: give it less to do, or raise cpu_ms`);
    }
    check();
    if (used < SLICE_MS / 2) {
      this.#given = this.#rate.perSlice;
      return this.#given;
    }
    this.#spentMs += used;
    if (!suspends) {
      this.overran = true;
      this.#mostMs = MOST_OF_SLICE_MS;
      return this.#slice();
    }
    return nextTurn().then(() => {
      check();
      this.#mostMs = MOST_OF_SLICE_MS;
      return this.#slice();
    });
  }
}
