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
 * container, a busy neighbour).
 */
const MOST_OF_SLICE_MS = 2 * SLICE_MS;
/**
 * Least share of a slice that counts, whatever the clock of the thread says: with a clock that stands still, calls end
 * after ten times their limit.
 */
const LEAST_SHARE = 0.1;
/** Milliseconds that a unit of host work is expected to take at least, at some 3 GB/s for copies (`Call.charge`). */
const MS_PER_UNIT = 0.05 / QUANTUM;
/** Milliseconds of the gateway's own work for a plugin that waits: a request to an upstream takes more. */
const WAIT_MS = 0.05;

/** CPU time of this thread in milliseconds, to the microsecond. */
function threadCpuMs(): number {
  // Linux updates the count of a thread at each tick (4 ms), and when the time of its process is read.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * The clock of one call. Time spent waiting is not counted. The first slice counts as the time that has passed, since a
 * look at the thread's CPU time takes as long as a short call; later ones count as CPU time.
 */
export class CpuClock {
  /** The call came to the end of a slice, and had to wait for another or, as it could not, went on. */
  usedUpSlice = false;
  #limitMs = 0;
  /** Milliseconds of the first slice, of waits and of work done meanwhile. */
  #baseMs = 0;
  #since = 0;
  /** Milliseconds that the host's work is expected to take in this slice; they raise the cap. */
  #hostMs = 0;
  /** The call has used up a slice: its CPU time is looked at. */
  #isLong = false;
  /** CPU time of the thread when the slice began. */
  #cpuSince = 0;
  /** Time and CPU time of the later slices. Cumulative, since systems with coarse clocks are right on average. */
  #passedMs = 0;
  #cpuMs = 0;

  /** Starts a call; returns its first fuel. */
  start(limitMs: number): number {
    this.#limitMs = limitMs;
    this.#baseMs = 0;
    this.#passedMs = 0;
    this.#cpuMs = 0;
    this.usedUpSlice = false;
    this.#isLong = false;
    this.#begin();
    return QUANTUM;
  }

  #begin(): void {
    if (this.#isLong) this.#cpuSince = threadCpuMs();
    this.#since = performance.now();
    this.#hostMs = 0;
  }

  /** Notes host work of so many `units` within this slice. */
  work(units: number): void {
    this.#hostMs += units * MS_PER_UNIT;
  }

  /** The host has worked for the call while it waited. */
  worked(units: number): void {
    this.#baseMs += units * MS_PER_UNIT;
  }

  /** Milliseconds since the slice began: its CPU time at most. */
  #used(): number {
    return Math.min(performance.now() - this.#since, MOST_OF_SLICE_MS + this.#hostMs);
  }

  /** Milliseconds before the slice that runs now. */
  get spentMs(): number {
    return this.#baseMs + counted(this.#passedMs, this.#cpuMs);
  }

  /** Milliseconds of CPU of the call with a slice that has run for `used` until now. */
  #spentWith(used: number): number {
    if (!this.#isLong) return this.#baseMs + used;
    return this.#baseMs + counted(this.#passedMs + used, this.#cpuMs + threadCpuMs() - this.#cpuSince);
  }

  #count(used: number): void {
    if (this.#isLong) {
      this.#passedMs += used;
      this.#cpuMs += threadCpuMs() - this.#cpuSince;
    } else this.#baseMs += used;
  }

  #endSlice(): void {
    const used = this.#used();
    this.#count(used);
    spend(used);
  }

  /** A wait for the host begins. */
  pause(): void {
    this.#endSlice();
    this.#baseMs += WAIT_MS;
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
   * Returns more fuel, or 0 if the slice has ended and the call has to wait for its next turn: a slice is used up, by it
   * or by other calls in this turn of the event loop. `check` throws if the result is no longer wanted. Throws
   * CpuExceeded past the limit.
   */
  refuel(check: () => void, suspends: boolean): number {
    const used = this.#used();
    if (this.spentMs + used > this.#limitMs && this.#spentWith(used) > this.#limitMs) {
      throw new CpuExceeded(`used its ${this.#limitMs} ms of CPU time: give it less to do, or raise cpu_ms`);
    }
    check();
    if (!isSpent(used)) return QUANTUM;
    // A slice spent by other calls says nothing about this one.
    if (used >= SLICE_MS) this.usedUpSlice = true;
    this.#count(used);
    if (used >= SLICE_MS) this.#isLong = true;
    if (suspends) {
      spend(used);
      return 0;
    }
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

/** Milliseconds that slices count as: CPU time, between bounds by the time that has passed. */
function counted(passedMs: number, cpuMs: number): number {
  return Math.max(passedMs * LEAST_SHARE, Math.min(passedMs, cpuMs));
}
