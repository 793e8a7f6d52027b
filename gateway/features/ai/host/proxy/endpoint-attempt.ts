/** One attempt at one endpoint of a provider: records the endpoint's health, and counts. */

import { CLIENT_CLOSED, type HeaderList, HttpCallError, headerOf, type Problem, retryAfterMs } from '../../../kit.ts';
import type { AiServices, Asked } from './attempt-context.ts';
import { EndpointLimited, ProviderFailed, ReportedError } from './conversation/provider-failure.ts';
import { credentialRefused } from './conversation/provider-problems.ts';
import {
  type AnswerHead,
  endpointAnswer,
  failureOf,
  leave,
  NO_ANSWER,
  outcomeOf,
  usableAnswer,
} from './endpoint-answer.ts';
import { passedHeaders, withRetryAfter } from './provider-headers.ts';
import { problemFor } from './surfaces/problem-for.ts';
import type { Endpoint } from './targets/endpoint.ts';
import type { Provider } from './targets/provider.ts';
import { TokenCount } from './token-count.ts';

/** The endpoint of an attempt, and how a 429 is handled. */
export interface AttemptAt {
  readonly provider: Provider;
  readonly endpoint: Endpoint;
  /** Milliseconds for the whole answer; of a stream or a WebSocket, until its head is there. */
  readonly headMs: number;
  /** The target has other endpoints: then this one rests after a 429. */
  readonly isShared: boolean;
  /** Seconds until an endpoint can be asked; null if one can be asked now. */
  retryAfter(): number | null;
  /** Reports whether another one of them would be asked now. */
  movesOn(): boolean;
}

export class EndpointAttempt {
  readonly #asked: Asked;
  readonly #at: AttemptAt;
  readonly #services: AiServices;
  readonly count: TokenCount;
  /** Status of the provider's answer. */
  #status = NO_ANSWER;

  constructor(asked: Asked, at: AttemptAt, services: AiServices) {
    this.#asked = asked;
    this.#at = at;
    this.#services = services;
    this.count = new TokenCount(asked.exchange, at.provider, asked.model);
  }

  /** Returns null if the client has an answer, or has left; otherwise nothing was sent to it. `ask` throws failures. */
  async run(ask: () => Promise<void>): Promise<ProviderFailed | null> {
    const { provider, endpoint } = this.#at;
    const { breaker } = endpoint.health;
    const { exchange } = this.#asked;
    const { clientIp } = exchange;
    if (!breaker.admits(clientIp)) return new ProviderFailed('circuit breaker open', 503, breaker.retryAfter(clientIp));
    const from = performance.now();
    let failed: ProviderFailed | null = null;
    this.count.begin();
    try {
      await ask();
    } catch (error) {
      failed = await this.#failure(error);
    }
    if (failed !== null && !exchange.closed) this.#failed(failed);
    const { metrics } = this.#services;
    const status = exchange.closed && this.#status === NO_ANSWER ? CLIENT_CLOSED : this.#status;
    metrics.answered(provider, status, (performance.now() - from) / 1000);
    if (!exchange.closed) metrics.asked(endpoint.host, outcomeOf(this.#status, failed));
    return failed;
  }

  #failed(failed: ProviderFailed): void {
    this.count.failed();
    if (!(failed instanceof EndpointLimited)) this.#at.endpoint.health.failed();
  }

  /** The head of an answer, as the circuit breaker sees it. Throws ProviderFailed for one that another may give better. */
  async settled<A extends AnswerHead>(answering: Promise<A>): Promise<A> {
    const { endpoint } = this.#at;
    const { health } = endpoint;
    const from = performance.now();
    const answer = await endpointAnswer(answering, endpoint, this.#asked.exchange, this.#services.metrics);
    this.#status = answer.status;
    if (answer.status === 429 && this.#limited(retryAfterMs(headerOf(answer.headers, 'retry-after')))) {
      leave(answer);
      throw new EndpointLimited(null);
    }
    if (answer.status < 300) health.answered(performance.now() - from);
    return usableAnswer(answer);
  }

  /** Reports whether another endpoint is asked in place of this one, which says with 429 that its quota is used up. */
  #limited(waitMs: number | null): boolean {
    const { endpoint, isShared, movesOn } = this.#at;
    if (isShared) endpoint.health.limited(this.#asked.request.model, waitMs);
    return movesOn();
  }

  /** The provider refuses the request. `error`: for the client, in the form of its surface; null: as it came. */
  refused(status: number, headers: HeaderList, body: Uint8Array, error: object | null): Promise<void> {
    this.count.failed();
    const problem = credentialRefused(status);
    if (problem !== null) return this.#credentialRefused(status, problem);
    const passed = passedHeaders(headers, 'application/json', error === null);
    const seconds = status === 429 ? this.#at.retryAfter() : null;
    return this.#asked.response.whole({
      status,
      headers: seconds === null ? passed : withRetryAfter(passed, seconds),
      body: error === null ? body : JSON.stringify(error),
    });
  }

  /** Logs the refusal for the operator. */
  #credentialRefused(status: number, problem: Problem): Promise<void> {
    const { exchange, response } = this.#asked;
    const { provider, endpoint } = this.#at;
    this.#services.log(
      'error',
      `${provider} at ${endpoint.host} refuses the credential of the gateway: ${status}`,
      exchange,
    );
    return response.whole({ problem: problemFor(exchange, problem) });
  }

  /** Returns null if the client got an answer of it. */
  async #failure(error: unknown): Promise<ProviderFailed | null> {
    if (error instanceof ProviderFailed) return error;
    if (error instanceof ReportedError) {
      const { status, message } = error.error;
      this.#status = status;
      if (status === 429 && this.#limited(null)) return new EndpointLimited(null);
      if (status >= 500) return new ProviderFailed(`it answered with an error: ${message}`, status);
      this.count.failed();
      const problem = credentialRefused(status);
      if (problem !== null) {
        await this.#credentialRefused(status, problem);
        return null;
      }
      await this.#asked.response.whole({
        status,
        headers: ['content-type', 'application/json'],
        body: JSON.stringify(this.#asked.surface.error(error.error)),
      });
      return null;
    }
    if (error instanceof HttpCallError) return failureOf(error);
    throw error;
  }
}
