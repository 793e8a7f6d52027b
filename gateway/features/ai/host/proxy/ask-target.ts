/** One request to one target: its endpoints are asked one after another, until one answers. */
import type { AiServices, Asked } from './attempt-context.ts';
import { EndpointLimited, ProviderFailed } from './conversation/provider-failure.ts';
import { aiProblem } from './conversation/refusal.ts';
import type { AttemptAt } from './endpoint-attempt.ts';
import { problemFor } from './surfaces/problem-for.ts';
import type { Choice } from './targets/balance.ts';
import type { Endpoint } from './targets/endpoint.ts';
import type { AiSettings } from './targets/settings.ts';
import type { Target } from './targets/targets.ts';

/** Most attempts of one request; a long list serves other requests. */
const MOST_ATTEMPTS = 4;
/** Milliseconds. */
const ROUNDED = 100;

/** Asks an endpoint. Resolves with null if the client has an answer, or has left; otherwise nothing was sent to it. */
export type Attempt = (asked: Asked, at: AttemptAt) => Promise<ProviderFailed | null>;

export class TargetRun {
  readonly #asked: Asked;
  readonly #target: Target;
  readonly #attempt: Attempt;
  readonly #settings: AiSettings;
  readonly #services: AiServices;
  readonly #tried = new Set<Endpoint>();
  readonly #until: number;
  /** Failure of the last failed endpoint; a 429 does not count. */
  #failed: ProviderFailed | null = null;

  constructor(asked: Asked, target: Target, attempt: Attempt, settings: AiSettings, services: AiServices) {
    this.#asked = asked;
    this.#target = target;
    this.#attempt = attempt;
    this.#settings = settings;
    this.#services = services;
    this.#until = performance.now() + settings.timeoutMs;
  }

  /** Returns null if the client has an answer, or has left; otherwise nothing was sent to it. */
  async run(): Promise<ProviderFailed | null> {
    const { exchange, request } = this.#asked;
    while (!exchange.closed && this.#mayAsk()) {
      const choice = this.#target.balance.next(request.model, this.#tried);
      if (choice === null) break;
      const failed = await this.#ask(choice);
      if (failed === null) return null;
      if (!(failed instanceof EndpointLimited)) this.#failed = failed;
    }
    if (exchange.closed) return this.#failed ?? new ProviderFailed('the client has gone');
    if (this.#failed !== null) return this.#failed;
    if (this.#isBroken())
      return new ProviderFailed('circuit breaker open', 503, this.#target.retryAfter(request.model));
    return this.#answerLimited();
  }

  async #ask(choice: Choice): Promise<ProviderFailed | null> {
    const { exchange } = this.#asked;
    const { provider, name } = this.#target;
    const { endpoint } = choice;
    this.#tried.add(endpoint);
    this.#trace(choice);
    const at = {
      provider,
      endpoint,
      headMs: this.#leftMs(),
      isShared: this.#target.endpoints.length > 1,
      retryAfter: () => this.#retryAfter(),
      movesOn: () => this.#movesOn(),
    };
    const failed = await this.#attempt(this.#asked, at);
    if (failed !== null && !exchange.closed) {
      this.#services.log('warn', `${name}, ${provider} at ${endpoint.host}: ${failed.message}`, exchange);
    }
    return failed;
  }

  #mayAsk(): boolean {
    return this.#tried.size === 0 || (this.#tried.size < MOST_ATTEMPTS && performance.now() < this.#until);
  }

  /** Milliseconds; rounded, since each length of time has a timer of its own. */
  #leftMs(): number {
    const { timeoutMs } = this.#settings;
    if (this.#tried.size === 1) return timeoutMs;
    return Math.min(timeoutMs, Math.max(1, Math.ceil((this.#until - performance.now()) / ROUNDED)) * ROUNDED);
  }

  /** Reports whether a 429 leads to another endpoint, or to `fallback` if an endpoint has failed. */
  #movesOn(): boolean {
    if (this.#failed !== null || this.#isBroken()) return true;
    return this.#mayAsk() && this.#target.balance.hasNext(this.#asked.request.model, this.#tried);
  }

  #isBroken(): boolean {
    return this.#target.endpoints.some(({ health }) => health.breaker.refuses);
  }

  /** Seconds; null if the target has one endpoint, which says itself. */
  #retryAfter(): number | null {
    return this.#target.endpoints.length === 1 ? null : this.#target.retryAfter(this.#asked.request.model);
  }

  /** All endpoints are rate-limited, which does not trigger `fallback`. */
  async #answerLimited(): Promise<null> {
    const { exchange, request, response } = this.#asked;
    const detail = 'The quotas of the providers of this model are used up; Retry-After says when to try again.';
    const headers = ['retry-after', String(this.#target.retryAfter(request.model))];
    const limited = aiProblem('rate-limited', 'provider_rate_limited', detail, { headers });
    await response.whole({ problem: problemFor(exchange, limited) });
    return null;
  }

  /** No address: base URLs may come from secrets. */
  #trace({ endpoint, why }: Choice): void {
    const span = this.#asked.exchange.trace?.child('ai endpoint');
    if (!span) return;
    span.attributes['gw.outcome'] = endpoint.host;
    span.attributes['gw.detail'] = `${this.#asked.why}: ${this.#target.name}, ${why}`;
    span.end();
  }
}
