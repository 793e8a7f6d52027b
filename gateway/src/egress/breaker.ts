/**
 * The circuit breaker of an upstream (docs/reference/gateway.md#circuit-breaker: 503 while open). Closed: requests
 * pass, and so many failures in a row, each a connection that failed, an invalid answer or a time-out, open it. Open:
 * requests are refused until the cool-down is over. Half-open: one request goes through; its outcome closes or opens it
 * again.
 */
export interface BreakerOptions {
  /** Failures in a row that open it. Default 5. */
  readonly failures: number;
  /** Milliseconds that it stays open. Default 10 s. */
  readonly cooldownMs: number;
}

export const DEFAULT_BREAKER: BreakerOptions = { failures: 5, cooldownMs: 10_000 };

export class CircuitBreaker {
  readonly #options: BreakerOptions;
  readonly #now: () => number;
  #failures = 0;
  #openUntil = 0;
  #probing = false;

  constructor(options: BreakerOptions = DEFAULT_BREAKER, now: () => number = performance.now.bind(performance)) {
    this.#options = options;
    this.#now = now;
  }

  /** Whether `admits` would say no. */
  get refuses(): boolean {
    return this.#failures >= this.#options.failures && (this.#probing || this.#now() < this.#openUntil);
  }

  /** Whether a request may go; where it may, `succeeded`, `failed` or `abandoned` must follow. */
  admits(): boolean {
    if (this.refuses) return false;
    this.#probing = this.#failures >= this.#options.failures;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#probing = false;
  }

  failed(): void {
    this.#failures++;
    this.#probing = false;
    if (this.#failures >= this.#options.failures) this.#openUntil = this.#now() + this.#options.cooldownMs;
  }

  /** The client left before there was an outcome. */
  abandoned(): void {
    this.#probing = false;
  }

  /** Seconds until it may be tried again, at least 1; for `Retry-After`. */
  retryAfter(): number {
    return Math.max(1, Math.ceil((this.#openUntil - this.#now()) / 1000));
  }
}
