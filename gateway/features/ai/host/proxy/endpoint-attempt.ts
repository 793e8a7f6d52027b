/**
 * One attempt at one endpoint of a provider. The circuit breaker, the health of the endpoint, the metrics and the log of
 * requests of all kinds are recorded here alone.
 */

import { CLIENT_CLOSED, type Exchange, HttpCallError, headerOf, type LogLevel, retryAfterMs } from '../../../kit.ts';
import type { AttemptContext, EndpointTarget } from './attempt-context.ts';
import { ProviderFailure } from './conversation/provider-failure.ts';
import { type AnswerHead, type AttemptResult, failed, failureOf, LIMITED, NO_ANSWER } from './endpoint-answer.ts';
import type { Endpoint } from './targets/endpoint.ts';
import { TokenCount } from './token-count.ts';

/** Failures after which a provider is given time, as an upstream is (docs/reference/gateway.md#circuit-breaker). */
const COUNTED: readonly string[] = ['failed', 'timeout'];

export class EndpointAttempt {
  readonly #context: AttemptContext;
  readonly at: EndpointTarget;
  readonly #from = performance.now();
  /** Status of the provider's answer. */
  #status = NO_ANSWER;

  constructor(context: AttemptContext, at: EndpointTarget) {
    this.#context = context;
    this.at = at;
  }

  /** Returns the failure if the circuit breaker is open; otherwise null, and `head` and `end` must follow. */
  begin(): AttemptResult | null {
    const { breaker } = this.at.endpoint.health;
    const { clientIp } = this.#context.exchange;
    if (breaker.admits(clientIp)) return null;
    const result = failed(new ProviderFailure('circuit breaker open', 503, breaker.retryAfter(clientIp)));
    this.#logFailure(result);
    return result;
  }

  /** Waits for the head of the answer. Returns the answer if the client is to get it. */
  async head<A extends AnswerHead>(
    answering: Promise<A>,
  ): Promise<AttemptResult | { readonly type: 'usable'; readonly answer: A }> {
    const { endpoint, tries } = this.at;
    const { health } = endpoint;
    let answer: A;
    try {
      answer = await answering;
    } catch (error) {
      this.#recordNoAnswer(error);
      return failed(failureOf(error));
    }
    health.breaker.succeeded();
    health.recordQuota(answer.headers);
    const { status, headers } = answer;
    if (status < 300 && tries !== null) health.answered(performance.now() - this.#from);
    const waitMs = retryAfterMs(headerOf(headers, 'retry-after'));
    const result = this.willTryAnotherAfter(status, waitMs) ? LIMITED : failureBy(status, waitMs);
    if (result === null) return { type: 'usable', answer };
    discardAnswer(answer);
    return result;
  }

  /** Records the status of the answer. Reports whether another endpoint is asked instead, since it is 429. */
  willTryAnotherAfter(status: number, waitMs: number | null): boolean {
    const { endpoint, tries } = this.at;
    this.#status = status;
    if (status !== 429 || tries === null) return false;
    tries.recordLimit(endpoint, waitMs);
    return tries.willTryAnother();
  }

  /** The client has its answer, or the request goes on to another endpoint. */
  end(result: AttemptResult): void {
    const { exchange, services } = this.#context;
    const { endpoint, target, tries } = this.at;
    const { metrics } = services;
    const status = exchange.closed && this.#status === NO_ANSWER ? CLIENT_CLOSED : this.#status;
    metrics.recordAnswer(target.provider, status, (performance.now() - this.#from) / 1000);
    if (exchange.closed) return;
    const hasFailed = result.type === 'failed' || result.type === 'broken';
    metrics.countEndpoint(endpoint.host, this.#status === 429 ? 'limited' : hasFailed ? 'failed' : 'answered');
    if (hasFailed || result.type === 'limited') TokenCount.of(exchange)?.failed();
    if (hasFailed && tries !== null) endpoint.health.failed();
    this.#logFailure(result);
  }

  /** `says`: follows the name of the endpoint. */
  log(level: LogLevel, says: string): void {
    const { exchange, services } = this.#context;
    const { endpoint, target } = this.at;
    services.log(level, `${target.provider} at ${endpoint.host}${says}`, exchange);
  }

  /** Failures that a client causes, by leaving or by its body, do not count. */
  #recordNoAnswer(error: unknown): void {
    const { exchange, services } = this.#context;
    const { health, host } = this.at.endpoint;
    const isOurs = exchange.closed || Boolean(exchange.bodyStream?.errored);
    if (isOurs || !(error instanceof HttpCallError) || !COUNTED.includes(error.failure))
      health.breaker.abandoned(exchange.clientIp);
    else if (health.breaker.failed(exchange.clientIp)) services.metrics.countOpenBreaker(host);
  }

  /** A request whose own body broke off is logged as such. */
  #logFailure(result: AttemptResult): void {
    const { exchange, services } = this.#context;
    const { endpoint, target } = this.at;
    if (exchange.closed || (result.type === 'failed' && exchange.bodyStream?.errored)) return;
    const why = result.type === 'limited' ? 'it answered 429' : 'failure' in result ? result.failure.message : null;
    if (why === null) return;
    services.log('warn', `${target.name}, ${target.provider} at ${endpoint.host}: ${why}`, exchange);
  }
}

/** Returns null for an answer that is for the client; otherwise another endpoint may answer better. */
function failureBy(status: number, waitMs: number | null): AttemptResult | null {
  if (status < 300 || (status >= 400 && status < 500)) return null;
  const seconds = waitMs === null ? null : Math.ceil(waitMs / 1000);
  return failed(new ProviderFailure(`it answered ${status}`, status, seconds));
}

function discardAnswer(answer: AnswerHead): void {
  answer.cancel?.();
  answer.holding?.release();
}

/** No address: base URLs may come from secrets. */
export function traceEndpoint({ trace }: Exchange, endpoint: Endpoint, detail: string): void {
  const span = trace?.child('ai endpoint');
  if (!span) return;
  span.attributes['gw.outcome'] = endpoint.host;
  span.attributes['gw.detail'] = detail;
  span.end();
}
