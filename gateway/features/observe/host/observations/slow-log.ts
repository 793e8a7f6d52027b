/** Lines about slow requests: at most one a second, since when one is slow, most are. */
import type { EndedRequest } from '../../../kit.ts';

const EVERY_MS = 1000;

export class SlowLog {
  readonly #write: (message: string, ended: EndedRequest) => void;
  /** Milliseconds, on the monotonic clock. */
  #lastAt = Number.NEGATIVE_INFINITY;
  #leftOut = 0;

  constructor(write: (message: string, ended: EndedRequest) => void) {
    this.#write = write;
  }

  add(ended: EndedRequest, now = performance.now()): void {
    if (now - this.#lastAt < EVERY_MS) {
      this.#leftOut++;
      return;
    }
    this.#write(`${describe(ended)}${this.#others()}`, ended);
    this.#lastAt = now;
    this.#leftOut = 0;
  }

  #others(): string {
    return this.#leftOut === 0 ? '' : `; ${this.#leftOut} more since the last such line`;
  }
}

function describe({ exchange, method, route, status, seconds }: EndedRequest): string {
  const upstream =
    exchange.outcome.dispatchMs === null
      ? ''
      : `, ${exchange.outcome.dispatchMs.toFixed(1)} of them from dispatch to the response head`;
  return `slow: ${method} ${route} took ${(seconds * 1000).toFixed(1)} ms${upstream}; status ${status}`;
}
