/** One request to one endpoint of a provider, and its answer on the way to the client. */
import { type HttpAnswer, type HttpCall, HttpCallError, type HttpStream } from '../../egress/http-client.ts';
import { CLIENT_CLOSED, type HeaderList, headerOf } from '../../exchange.ts';
import { MOST_NESTING, nestsTooDeeply } from '../../json/nesting.ts';
import { messageOf } from '../../message-of.ts';
import { retryAfterMs } from '../../retry-after.ts';
import type { AiServices, Asked } from './asked.ts';
import { EndpointLimited, ProviderFailed, StreamError } from './conversation/provider-failure.ts';
import { aiProblem } from './conversation/refusal.ts';
import { endpointAnswer, errorBody, failureOf, leave, NO_ANSWER, outcomeOf, usableAnswer } from './endpoint-answer.ts';
import { passedHeaders, warningHeaders, withRetryAfter } from './provider-headers.ts';
import { StreamedResponse } from './streamed-response.ts';
import { problemFor } from './surfaces/problem-for.ts';
import type { Translation } from './surfaces/surface.ts';
import type { Endpoint } from './targets/endpoint.ts';
import type { Provider } from './targets/provider.ts';
import type { AiSettings } from './targets/settings.ts';
import { TokenCount } from './token-count.ts';
import { TokenEstimate } from './token-estimate.ts';

/** What values take that are parsed out of a byte of JSON. */
const PARSED = 3;

/** Whom an attempt asks, and what becomes of a 429. */
export interface AttemptAt {
  readonly provider: Provider;
  readonly endpoint: Endpoint;
  /** Milliseconds for the whole answer; of a stream, until its head is there. */
  readonly headMs: number;
  /** The target has other endpoints: then this one rests after a 429. */
  readonly isShared: boolean;
  /** Seconds until one of them can be asked; null where it has one. */
  retryAfter(): number | null;
  /** Whether another one of them would be asked now. */
  movesOn(): boolean;
}

export class ProviderAttempt {
  readonly #asked: Asked;
  readonly #at: AttemptAt;
  readonly #translation: Translation;
  readonly #settings: AiSettings;
  readonly #services: AiServices;
  readonly #count: TokenCount;
  /** Of the provider's answer. */
  #status = NO_ANSWER;

  constructor(asked: Asked, at: AttemptAt, translation: Translation, settings: AiSettings, services: AiServices) {
    this.#asked = asked;
    this.#at = at;
    this.#translation = translation;
    this.#settings = settings;
    this.#services = services;
    this.#count = new TokenCount(asked.x, at.provider, asked.model);
  }

  /** Null where the client has an answer, or has gone; else nothing was sent to it. */
  async run(): Promise<ProviderFailed | null> {
    const { provider, endpoint } = this.#at;
    const { health } = endpoint;
    const { breaker } = health;
    if (!breaker.admits()) return new ProviderFailed('circuit breaker open', 503, breaker.retryAfter());
    const { x, request } = this.#asked;
    const from = performance.now();
    let failed: ProviderFailed | null = null;
    this.#count.begin();
    try {
      await (request.stream ? this.#stream() : this.#whole());
    } catch (error) {
      failed = await this.#failure(error);
    }
    if (failed !== null && !x.closed) this.#failed(failed);
    const { metrics } = this.#services;
    const status = x.closed && this.#status === NO_ANSWER ? CLIENT_CLOSED : this.#status;
    metrics.answered(provider, status, (performance.now() - from) / 1000);
    if (!x.closed) metrics.asked(endpoint.host, outcomeOf(this.#status, failed));
    if (this.#count.usage !== null) metrics.counted(provider, this.#count.usage);
    return failed;
  }

  #failed(failed: ProviderFailed): void {
    this.#count.failed();
    if (!(failed instanceof EndpointLimited)) this.#at.endpoint.health.failed();
  }

  async #whole(): Promise<void> {
    const answer = await this.#settled(this.#services.http.call({ ...this.#call(), holds: true }));
    const { x, response } = this.#asked;
    x.onClose(() => answer.holding?.release());
    if (answer.status >= 400) return this.#refused(answer.status, answer.headers, answer.body);
    if (answer.holding?.take(answer.body.length * PARSED) === false) {
      const overloaded = aiProblem('overloaded', null, 'The gateway has no room for the answer.');
      return response.whole({ problem: problemFor(x, overloaded) });
    }
    const { body, usage } = this.#translation.whole(jsonOf(answer), answer.body);
    this.#count.succeeded(usage);
    this.#count.completed();
    if (usage === null) TokenEstimate.of(x)?.answered(body.length);
    return response.whole({
      status: 200,
      headers: [...passedHeaders(answer.headers, 'application/json'), ...this.#warnings()],
      body,
    });
  }

  async #stream(): Promise<void> {
    const answer = await this.#settled(this.#services.http.open(this.#call()));
    if (answer.status >= 400) return this.#refused(answer.status, answer.headers, await errorBody(answer));
    const type = headerOf(answer.headers, 'content-type') ?? '';
    if (!/^text\/event-stream\s*(;|$)/i.test(type)) {
      answer.cancel();
      throw new ProviderFailed('it answered without a stream, which was asked for');
    }
    const streamed = new StreamedResponse(this.#asked, this.#translation.streamed(), this.#count, (why) =>
      this.#services.log('warn', `${this.#at.provider} at ${this.#at.endpoint.host}: ${why}`, this.#asked.x),
    );
    await streamed.run({
      ...answer,
      headers: [...passedHeaders(answer.headers, 'text/event-stream'), ...this.#warnings()],
    });
  }

  /** Counted with each answer. */
  #warnings(): HeaderList {
    const { warnings } = this.#translation;
    for (const each of warnings) this.#services.metrics.warned(each, this.#at.provider);
    return warningHeaders(warnings);
  }

  #call(): HttpCall & { readonly headTimeoutMs?: number } {
    const { endpoint, headMs } = this.#at;
    const { stream } = this.#asked.request;
    return {
      method: 'POST',
      url: endpoint.url(this.#translation.path),
      headers: [
        ...['content-type', 'application/json', 'accept', stream ? 'text/event-stream' : 'application/json'],
        ...['accept-encoding', 'identity', 'user-agent', 'gw', ...endpoint.headers],
      ],
      body: this.#translation.body,
      ...(stream ? { timeoutMs: this.#settings.timeoutMs, headTimeoutMs: headMs } : { timeoutMs: headMs }),
      exchange: this.#asked.x,
    };
  }

  /** The head of an answer, as the circuit breaker sees it. Throws ProviderFailed for one that another may give better. */
  async #settled<A extends HttpAnswer | HttpStream>(answering: Promise<A>): Promise<A> {
    const { endpoint } = this.#at;
    const { health } = endpoint;
    const from = performance.now();
    const answer = await endpointAnswer(answering, endpoint, this.#asked.x, this.#services.metrics);
    this.#status = answer.status;
    if (answer.status === 429 && this.#limited(retryAfterMs(headerOf(answer.headers, 'retry-after')))) {
      leave(answer);
      throw new EndpointLimited(null);
    }
    if (answer.status < 300) health.answered(performance.now() - from);
    return usableAnswer(answer);
  }

  /** Whether another endpoint is asked in place of this one, which says with 429 that its quota is used up. */
  #limited(waitMs: number | null): boolean {
    const { endpoint, isShared, movesOn } = this.#at;
    if (isShared) endpoint.health.limited(this.#asked.request.model, waitMs);
    return movesOn();
  }

  /** The provider refuses the request: the client is told so in the form of its surface. */
  #refused(status: number, headers: HeaderList, body: Uint8Array): Promise<void> {
    this.#count.failed();
    const error = this.#translation.error(parsedBody(body), status);
    const passed = passedHeaders(headers, 'application/json', error === null);
    const seconds = status === 429 ? this.#at.retryAfter() : null;
    return this.#asked.response.whole({
      status,
      headers: seconds === null ? passed : withRetryAfter(passed, seconds),
      body: error === null ? body : JSON.stringify(error),
    });
  }

  /** Null where the client got an answer of it. */
  async #failure(error: unknown): Promise<ProviderFailed | null> {
    if (error instanceof ProviderFailed) return error;
    if (error instanceof StreamError) {
      const { status, message } = error.error;
      this.#status = status;
      if (status === 429 && this.#limited(null)) return new EndpointLimited(null);
      if (status >= 500) return new ProviderFailed(`it answered with an error: ${message}`, status);
      this.#count.failed();
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

function jsonOf({ body }: HttpAnswer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch (error) {
    throw new ProviderFailed(`its answer is not valid: ${messageOf(error)}`);
  }
  if (nestsTooDeeply(value)) throw new ProviderFailed(`its answer is nested more than ${MOST_NESTING} levels deep`);
  return value;
}

/** Null where it is no JSON: providers have proxies in front of them. */
function parsedBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return null;
  }
}
