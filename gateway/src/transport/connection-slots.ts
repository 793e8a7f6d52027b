/**
 * How many client connections there may be at once (`GW_MAX_CONNECTIONS`, docs/reference/gateway.md#limits,
 * docs/decisions.md#counted-over-workers).
 */

export interface ConnectionSlots {
  /** True where the connection may stay; one that did not get true is not released. */
  take(): boolean | Promise<boolean>;
  release(): void;
}

/** Counted in this process. */
export class LocalConnectionSlots implements ConnectionSlots {
  readonly #most: number;
  #taken = 0;
  /** When the latest connection came, as `performance.now()`. */
  lastAt = Number.NEGATIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
  }

  take(): boolean {
    this.lastAt = performance.now();
    if (this.#taken >= this.#most) return false;
    this.#taken++;
    return true;
  }

  /** `count`: of a worker that has ended, all that it held. */
  release(count = 1): void {
    this.#taken -= count;
  }
}
