/** The endpoints of a target that one request has been sent to, and the time that is left for others. */

import type { ProviderFailure } from '../conversation/provider-failure.ts';
import type { Choice } from './balance.ts';
import type { Endpoint } from './endpoint.ts';
import type { Target } from './targets.ts';

/** Most attempts of one request; a long list serves other requests. */
const MOST_ATTEMPTS = 4;
/** Milliseconds. */
const ROUNDED = 100;

export class TargetTries {
  readonly #target: Target;
  readonly #model: string;
  readonly #timeoutMs: number;
  readonly #until: number;
  readonly #tried = new Set<Endpoint>();
  /** Failure of the last failed endpoint; a 429 does not count. */
  failure: ProviderFailure | null = null;

  constructor(target: Target, model: string, timeoutMs: number) {
    this.#target = target;
    this.#model = model;
    this.#timeoutMs = timeoutMs;
    this.#until = performance.now() + timeoutMs;
  }

  /** Returns the next endpoint to ask; null if none remains. */
  next(): Choice | null {
    const choice = this.#mayAsk() ? this.#target.balance.next(this.#model, this.#tried) : null;
    if (choice !== null) this.#tried.add(choice.endpoint);
    return choice;
  }

  /** Milliseconds; rounded, since each length of time has a timer of its own. */
  get leftMs(): number {
    if (this.#tried.size === 1) return this.#timeoutMs;
    return Math.min(this.#timeoutMs, Math.max(1, Math.ceil((this.#until - performance.now()) / ROUNDED)) * ROUNDED);
  }

  /** An endpoint has answered 429: it rests if the target has others. `forMs`: null if the answer does not say how long. */
  recordLimit({ health }: Endpoint, forMs: number | null): void {
    if (this.#target.endpoints.length > 1) health.limited(this.#model, forMs);
  }

  /** Reports whether a 429 leads to another endpoint, or to `fallback` if an endpoint has failed. */
  willTryAnother(): boolean {
    if (this.failure !== null || this.hasOpenBreaker) return true;
    return this.#mayAsk() && this.#target.balance.hasNext(this.#model, this.#tried);
  }

  get hasOpenBreaker(): boolean {
    return this.#target.endpoints.some(({ health }) => health.breaker.refuses);
  }

  /** Seconds until an endpoint can be asked; null if the target has one endpoint, whose answer says so itself. */
  get retryAfter(): number | null {
    return this.#target.endpoints.length === 1 ? null : this.#target.retryAfter(this.#model);
  }

  #mayAsk(): boolean {
    return this.#tried.size === 0 || (this.#tried.size < MOST_ATTEMPTS && performance.now() < this.#until);
  }
}
