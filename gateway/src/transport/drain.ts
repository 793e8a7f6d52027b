/**
 * Chooses connections that end with their next answer: all if the gateway ends, or those that clients have kept long.
 */

/** Connections open at a time, closed over the milliseconds after it. */
interface Closing {
  readonly openedBefore: number;
  readonly withinMs: number;
}

export class Drain {
  #all = false;
  #kept: Closing | null = null;

  /** From now on every connection ends with its next answer. */
  begin(): void {
    this.#all = true;
  }

  get begun(): boolean {
    return this.#all;
  }

  /** Each connection that is open now ends with its first answer after a moment of its own within that time. */
  closeKept(withinMs: number): void {
    this.#kept = { openedBefore: performance.now(), withinMs };
  }

  /** Reports whether one that was opened then (monotonic milliseconds) ends with this answer. */
  ends(openedAt: number): boolean {
    if (this.#all) return true;
    if (this.#kept === null) return false;
    const { openedBefore, withinMs } = this.#kept;
    if (openedAt >= openedBefore) return false;
    // Below a microsecond the time of opening is random: it serves as a stored random number.
    const moment = ((openedAt * 1000) % 1) * withinMs;
    return performance.now() >= openedBefore + moment;
  }
}
