/** One request about files or batches to the one endpoint that has them, and its answer on the way to the client. */

import {
  CLIENT_CLOSED,
  type EngineResponse,
  type Exchange,
  get,
  type HeaderList,
  HttpCallError,
  type HttpStream,
  headerOf,
  type Obj,
  readWhole,
  StateUnavailable,
  writeWithBackpressure,
} from '../../../kit.ts';
import type { AiServices } from './attempt-context.ts';
import { ProviderFailed } from './conversation/provider-failure.ts';
import { AiRefused, aiProblem } from './conversation/refusal.ts';
import { credentialRefused, unanswered } from './conversation/provider-problems.ts';
import { endpointAnswer, errorBody, failureOf, NO_ANSWER, outcomeOf, usableAnswer } from './endpoint-answer.ts';
import { countedOnce } from './files/batch-count.ts';
import { boundAnswer, objectOf, withIds } from './files/client-answer.ts';
import type { AskedOperation, ProviderRequest } from './files/provider-request.ts';
import { passedHeaders } from './provider-headers.ts';
import type { OwnedIds } from './targets/bound-ids.ts';
import type { Endpoint } from './targets/endpoint.ts';
import type { Target } from './targets/targets.ts';
import { TokenCount } from './token-count.ts';

/** Bytes of an object; metadata have 16 KiB at most. */
const MAX_OBJECT = 1 << 20;
/** Longest model name accepted, in characters. */
const MAX_MODEL = 256;
const JSON_TYPE = 'application/json';

export interface FilesAsked {
  readonly exchange: Exchange;
  readonly response: EngineResponse;
  readonly asked: AskedOperation;
  readonly target: Target;
  readonly owned: OwnedIds;
  readonly sent: ProviderRequest;
  /** Milliseconds until the head of the answer, and between pieces of either body. */
  readonly timeoutMs: number;
}

export class FilesCall {
  readonly #to: FilesAsked;
  readonly #endpoint: Endpoint;
  readonly #services: AiServices;
  /** Status of the provider's answer. */
  #status = NO_ANSWER;
  #headSent = false;

  constructor(to: FilesAsked, services: AiServices) {
    this.#to = to;
    this.#endpoint = to.target.endpoints[0];
    this.#services = services;
  }

  /** Throws AiRefused. */
  async run(): Promise<void> {
    const { exchange, target } = this.#to;
    const { metrics } = this.#services;
    const { breaker } = this.#endpoint.health;
    if (!breaker.admits(exchange.clientIp)) {
      return this.#failed(new ProviderFailed('circuit breaker open', 503, breaker.retryAfter(exchange.clientIp)));
    }
    this.#trace();
    const from = performance.now();
    let failed: ProviderFailed | null = null;
    try {
      await this.#answer();
    } catch (error) {
      failed = failureIn(error);
    } finally {
      const status = exchange.closed && this.#status === NO_ANSWER ? CLIENT_CLOSED : this.#status;
      metrics.answered(target.provider, status, (performance.now() - from) / 1000);
      if (!exchange.closed) metrics.asked(this.#endpoint.host, outcomeOf(this.#status, failed));
    }
    if (failed !== null) await this.#failed(failed);
  }

  async #answer(): Promise<void> {
    const { exchange, response, asked } = this.#to;
    const { http, metrics } = this.#services;
    const answer = await endpointAnswer(http.open(this.#call()), this.#endpoint, exchange, metrics);
    this.#status = answer.status;
    const { status, headers } = usableAnswer(answer);
    if (status >= 400) return this.#refused(status, headers, await errorBody(answer));
    if (asked.operation === 'content') return this.#content(answer);
    const body = await readWhole(answer.body, MAX_OBJECT, () => new ProviderFailed('its answer is too long'));
    const value = objectOf(body);
    const text = boundAnswer(value, asked.surface, this.#to.owned);
    if (asked.surface === 'batches') await this.#count(value);
    await response.whole({ status: 200, headers: passedHeaders(headers, JSON_TYPE), body: text });
  }

  #call() {
    const { exchange, sent, timeoutMs } = this.#to;
    const own = ['accept', '*/*', 'accept-encoding', 'identity', 'user-agent', 'gw'];
    return {
      method: sent.method,
      url: this.#endpoint.url(sent.path),
      headers: [...sent.headers, ...own, ...this.#endpoint.headers],
      body: sent.body,
      contentLength: headerOf(exchange.headers, 'content-length'),
      timeoutMs,
      exchange,
    };
  }

  /** As fast as the client takes it. Downloaded, and not shown: it is a consumer's, on the gateway's origin. */
  async #content(answer: HttpStream): Promise<void> {
    const { exchange, response } = this.#to;
    const type = passedHeaders(answer.headers, 'application/octet-stream', true);
    const sink = await response.head(exchange, 200, [...type, 'content-disposition', 'attachment']);
    if (sink === null) return answer.cancel();
    this.#headSent = true;
    let bytes = 0;
    for await (const piece of answer.body) {
      await writeWithBackpressure(sink, piece, exchange);
      if (exchange.closed) break;
      bytes += piece.length;
    }
    if (!exchange.closed) sink.end();
    response.done(exchange, bytes);
  }

  /** The provider refuses the request, and names ids in its words. */
  #refused(status: number, headers: HeaderList, body: Uint8Array): Promise<void> {
    const problem = credentialRefused(status);
    if (problem !== null) {
      const { exchange, target } = this.#to;
      const where = `${target.provider} at ${this.#endpoint.host}`;
      this.#services.log('error', `${where} refuses the credential of the gateway: ${status}`, exchange);
      return this.#to.response.whole({ problem });
    }
    const text = withIds(Buffer.from(body).toString(), this.#to.sent.ids);
    return this.#to.response.whole({ status, headers: passedHeaders(headers, JSON_TYPE, true), body: text });
  }

  async #count(batch: Obj): Promise<void> {
    const { exchange, target } = this.#to;
    const { metrics, reservations } = this.#services;
    const usage = await countedOnce(batch, this.#endpoint.baseUrl, reservations);
    if (usage === null) return;
    const model = get(batch, 'model');
    const count = new TokenCount(exchange, target.provider, typeof model === 'string' ? model.slice(0, MAX_MODEL) : '');
    count.begin();
    count.succeeded(usage);
    count.completed();
    metrics.counted(target.provider, usage);
  }

  async #failed(failed: ProviderFailed): Promise<void> {
    const { exchange, response, target } = this.#to;
    const bodyError = exchange.bodyStream?.errored;
    if (bodyError && !this.#headSent) return response.bodyFailed(exchange, bodyError);
    if (!exchange.closed) {
      this.#services.log(
        'warn',
        `${target.name}, ${target.provider} at ${this.#endpoint.host}: ${failed.message}`,
        exchange,
      );
    }
    if (!this.#headSent) await response.whole({ problem: unanswered(failed, 'The provider could not answer.') });
    else if (exchange.closed) response.done(exchange, 0);
    else response.broken(exchange, failed.message);
  }

  /** No address: base URLs may come from secrets. */
  #trace(): void {
    const span = this.#to.exchange.trace?.child('ai endpoint');
    if (!span) return;
    span.attributes['gw.outcome'] = this.#endpoint.host;
    span.attributes['gw.detail'] = `${this.#to.asked.surface}: ${this.#to.target.name}`;
    span.end();
  }
}

/** Returns the provider's failure. Rethrows errors that do not come from the provider. */
function failureIn(error: unknown): ProviderFailed {
  if (error instanceof ProviderFailed) return error;
  if (error instanceof HttpCallError) return failureOf(error);
  if (error instanceof StateUnavailable) {
    const detail = 'The tokens of the batch cannot be counted at present. Try again.';
    throw new AiRefused(aiProblem('state-unavailable', null, detail, { headers: ['retry-after', '1'] }));
  }
  throw error;
}
