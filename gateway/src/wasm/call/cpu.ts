/** CPU time of a call: how long it has run, and when it has to wait or stop. */
import { CpuExceeded } from './failures.ts';
import { isSpent, nextTurn, SLICE_MS, spend } from './turns.ts';

/**
 * Units that run between two looks at the clock (binary/costs.ts): some 50 µs of ordinary code, and at worst about a
 * slice. Looking takes 0.1 µs.
 */
const QUANTUM = 65_536;
/**
 * Most milliseconds that a slice counts as: a longer one was the machine's doing, not the plugin's (a throttled
 * container, a busy neighbour). The operating system's own count of CPU time would be exact, but goes by ticks of 4 ms
 * on many machines.
 */
const MOST_OF_SLICE_MS = 2 * SLICE_MS;
/** Milliseconds that a unit of host work is expected to take at least, at some 3 GB/s for copies (`Call.charge`). */
const MS_PER_UNIT = 0.05 / QUANTUM;
/** Milliseconds of the gateway's own work for a plugin that waits: a request to an upstream takes more. */
const WAIT_MS = 0.05;

/** The clock of one call. Time spent waiting is not counted. */
export class CpuClock {
  /** The call came to the end of a slice, and had to wait for another or, as it could not, went on. */
  usedUpSlice = false;
  /** Milliseconds before the slice that runs now. */
  spentMs = 0;
  #limitMs = 0;
  #since = 0;
  /** Milliseconds that the host's work is expected to take in this slice; they raise the cap. */
  #hostMs = 0;

  /** Starts a call; returns its first fuel. */
  start(limitMs: number): number {
    this.#limitMs = limitMs;
    this.spentMs = 0;
    this.usedUpSlice = false;
    this.#begin();
    return QUANTUM;
  }

  #begin(): void {
    this.#since = performance.now();
    this.#hostMs = 0;
  }

  /** Notes host work of so many `units` within this slice. */
  work(units: number): void {
    this.#hostMs += units * MS_PER_UNIT;
  }

  /** The host has worked for the call while it waited. */
  worked(units: number): void {
    this.spentMs += units * MS_PER_UNIT;
  }

  /** Milliseconds of CPU since the slice began. */
  #used(): number {
    return Math.min(performance.now() - this.#since, MOST_OF_SLICE_MS + this.#hostMs);
  }

  #endSlice(used = this.#used()): void {
    this.spentMs += used;
    spend(used);
  }

  /** A wait for the host begins. */
  pause(): void {
    this.#endSlice();
    this.spentMs += WAIT_MS;
  }

  /** A wait is over. */
  resume(): void {
    this.#begin();
  }

  /** Ends a call; milliseconds of CPU that it took. */
  stop(): number {
    this.#endSlice();
    return this.spentMs;
  }

  /**
   * Returns more fuel, or 0 if the slice has ended and the call has to wait for its next turn: a slice is used up, by it or by other calls in
   * this turn of the event loop. `check` throws if the result is no longer wanted. Throws CpuExceeded past the limit.
   */
  refuel(check: () => void, suspends: boolean): number {
    const used = this.#used();
    if (this.spentMs + used > this.#limitMs) {
      throw new CpuExceeded(`used its ${this.#limitMs} ms of CPU time: give it less to do, or raise cpu_ms`);
    }
    check();
    if (!isSpent(used)) return QUANTUM;
    // A slice spent by other calls says nothing about this one.
    if (used >= SLICE_MS) this.usedUpSlice = true;
    if (suspends) {
      this.#endSlice(used);
      return 0;
    }
    this.spentMs += used;
    this.#begin();
    return QUANTUM;
  }

  /** Waits for the call's next turn, after `refuel` has ended its slice; resolves with its fuel. */
  async wait(check: () => void): Promise<number> {
    await nextTurn();
    check();
    this.resume();
    return QUANTUM;
  }
}
