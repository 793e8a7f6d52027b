/** How long to wait before the next try: exponential with full jitter, so that many do not come at once. */

export interface RetryTimes {
  /** Most milliseconds before the first retry; default 1,000. */
  readonly firstMs: number;
  /** Most milliseconds before any; default 30,000. */
  readonly mostMs: number;
  /** Milliseconds of a connection after which the next failure counts as the first; default 60,000. */
  readonly stableMs: number;
  /** Milliseconds between tries if a person must act first, as for a wrong key; default 60,000. */
  readonly slowMs: number;
}

export const RETRY_TIMES: RetryTimes = { firstMs: 1_000, mostMs: 30_000, stableMs: 60_000, slowMs: 60_000 };

export class Backoff {
  readonly #times: Pick<RetryTimes, 'firstMs' | 'mostMs'>;
  #failures = 0;

  constructor(times: Pick<RetryTimes, 'firstMs' | 'mostMs'>) {
    this.#times = times;
  }

  /** Milliseconds; each call counts as a failure. */
  next(): number {
    const { firstMs, mostMs } = this.#times;
    const most = Math.min(mostMs, firstMs * 2 ** Math.min(this.#failures++, 30));
    return Math.ceil(Math.random() * most);
  }

  reset(): void {
    this.#failures = 0;
  }
}
