/** One request to one endpoint of a provider, and its answer on the way to the client. */

import {
  type HeaderList,
  type HttpAnswer,
  type HttpCall,
  type HttpStream,
  headerOf,
  isQuickJson,
  type JsonScan,
  jsonText,
  MOST_NESTING,
  messageOf,
  nestsTooDeeply,
  parseAsWritten,
  scanJson,
} from '../../../kit.ts';
import type { AiServices, Asked } from './attempt-context.ts';
import { ProviderFailed } from './conversation/provider-failure.ts';
import { aiProblem } from './conversation/refusal.ts';
import { errorBody } from './endpoint-answer.ts';
import { type AttemptAt, EndpointAttempt } from './endpoint-attempt.ts';
import { passedHeaders, warningHeaders } from './provider-headers.ts';
import { StreamedResponse } from './streamed-response.ts';
import { problemFor } from './surfaces/problem-for.ts';
import type { Translation } from './surfaces/surface.ts';
import type { AiSettings } from './targets/settings.ts';
import { TokenEstimate } from './token-estimate.ts';

export class ProviderAttempt {
  readonly #asked: Asked;
  readonly #at: AttemptAt;
  readonly #translation: Translation;
  readonly #settings: AiSettings;
  readonly #services: AiServices;
  readonly #attempt: EndpointAttempt;

  constructor(asked: Asked, at: AttemptAt, translation: Translation, settings: AiSettings, services: AiServices) {
    this.#asked = asked;
    this.#at = at;
    this.#translation = translation;
    this.#settings = settings;
    this.#services = services;
    this.#attempt = new EndpointAttempt(asked, at, services);
  }

  /** Returns null if the client has an answer, or has left; otherwise nothing was sent to it. */
  async run(): Promise<ProviderFailed | null> {
    const failed = await this.#attempt.run(() => (this.#asked.request.stream ? this.#stream() : this.#whole()));
    const { usage } = this.#attempt.count;
    if (usage !== null) this.#services.metrics.counted(this.#at.provider, usage);
    return failed;
  }

  async #whole(): Promise<void> {
    const answer = await this.#attempt.settled(this.#services.http.call({ ...this.#call(), holds: true }));
    const { exchange, response } = this.#asked;
    exchange.onClose(() => answer.holding?.release());
    if (answer.status >= 400) return this.#refused(answer, answer.body);
    if (answer.holding?.take(affordable(answer.body).heapBytes) === false) {
      const overloaded = aiProblem('overloaded', null, 'The gateway has no room for the answer.');
      return response.whole({ problem: problemFor(exchange, overloaded) });
    }
    const { body, usage } = this.#translation.whole(jsonOf(answer), answer.body);
    this.#attempt.count.succeeded(usage);
    this.#attempt.count.completed();
    if (usage === null) TokenEstimate.of(exchange)?.answered(body.length);
    return response.whole({
      status: 200,
      headers: [...passedHeaders(answer.headers, 'application/json'), ...this.#warnings()],
      body,
    });
  }

  async #stream(): Promise<void> {
    const answer = await this.#attempt.settled(this.#services.http.open(this.#call()));
    if (answer.status >= 400) return this.#refused(answer, await errorBody(answer));
    const type = headerOf(answer.headers, 'content-type') ?? '';
    if (!/^text\/event-stream\s*(;|$)/i.test(type)) {
      answer.cancel();
      throw new ProviderFailed('it answered without a stream, which was asked for');
    }
    const streamed = new StreamedResponse(this.#asked, this.#translation.streamed(), this.#attempt.count, (why) =>
      this.#services.log('warn', `${this.#at.provider} at ${this.#at.endpoint.host}: ${why}`, this.#asked.exchange),
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
        ...[
          'accept-encoding',
          'identity',
          'user-agent',
          'gw',
          ...(this.#translation.headers ?? []),
          ...endpoint.headers,
        ],
      ],
      body: this.#translation.body,
      ...(stream ? { timeoutMs: this.#settings.timeoutMs, headTimeoutMs: headMs } : { timeoutMs: headMs }),
      exchange: this.#asked.exchange,
    };
  }

  /** Passes the refusal to the client in the form of its surface. */
  #refused({ status, headers }: HttpAnswer | HttpStream, body: Uint8Array): Promise<void> {
    return this.#attempt.refused(status, headers, body, this.#translation.error(parsedBody(body), status));
  }
}

function jsonOf({ body }: HttpAnswer): unknown {
  let value: unknown;
  try {
    value = parseAsWritten(jsonText(body));
  } catch (error) {
    throw new ProviderFailed(`its answer is not valid: ${messageOf(error)}`);
  }
  if (nestsTooDeeply(value)) throw new ProviderFailed(`its answer is nested more than ${MOST_NESTING} levels deep`);
  return value;
}

/** Throws ProviderFailed if parsing would delay other requests. */
function affordable(body: Uint8Array): JsonScan {
  const scan = scanJson(body);
  if (scan.isTooCostly)
    throw new ProviderFailed('its answer takes too long to parse: it is too large, or has too many values');
  return scan;
}

/** Returns null if the body takes too long to parse or is not JSON, as from proxies in front of providers. */
function parsedBody(body: Uint8Array): unknown {
  if (!isQuickJson(body)) return null;
  try {
    return JSON.parse(jsonText(body));
  } catch {
    return null;
  }
}
