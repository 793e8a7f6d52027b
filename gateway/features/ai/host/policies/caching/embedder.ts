/** Asks a provider for the vector of a text, within a time limit. */

import {
  Crowded,
  type Exchange,
  FairQueue,
  get,
  HttpCallError,
  type HttpCaller,
  isQuickJson,
  jsonText,
  messageOf,
  ownerOf,
} from '../../../../kit.ts';
import type { Endpoint } from '../../proxy/targets/endpoint.ts';
import { normalise } from './vector-index.ts';

export interface EmbeddingSettings {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** Length of a vector; null: the model's default. */
  readonly dimensions: number | null;
  readonly timeoutMs: number;
}

/**
 * `rejected`: it answered with something else; `resting`: it failed repeatedly, and is left alone for a while;
 * `overloaded`: too many are under way, and this client or consumer has its share of them.
 */
export const EMBEDDING_RESULTS = ['embedded', 'failed', 'timeout', 'rejected', 'resting', 'overloaded'] as const;
export type EmbeddingResult = (typeof EMBEDDING_RESULTS)[number];

export interface EmbedderDeps {
  readonly http: HttpCaller;
  countEmbedding(result: EmbeddingResult): void;
  log(message: string, exchange: Exchange): void;
}

/** Bytes of an answer: vectors have up to some 4000 numbers. */
const MOST_BYTES = 1 << 20;
const MOST_DIMENSIONS = 8_192;
/**
 * Calls under way at once for one config. Past it, the client with most loses its oldest, whose request goes on
 * without.
 */
const ASKING = { atOnce: 200, mostWaiting: 0, mostMs: 0 };
/** Statuses by which providers refuse a text, such as one of too many tokens. */
const ABOUT_THE_TEXT = new Set([400, 413, 422]);

export class Embedder {
  readonly #settings: EmbeddingSettings;
  readonly #deps: EmbedderDeps;
  readonly #queue = new FairQueue(ASKING);

  constructor(settings: EmbeddingSettings, deps: EmbedderDeps) {
    this.#settings = settings;
    this.#deps = deps;
  }

  /** Returns null if the vector cannot be had. */
  async vectorOf(text: string, exchange: Exchange): Promise<Float32Array | null> {
    const { health, host } = this.#settings.endpoint;
    const { breaker } = health;
    if (!breaker.admits(exchange.clientIp)) {
      this.#deps.countEmbedding('resting');
      return null;
    }
    try {
      const vector = await this.#queue.run(ownerOf(exchange), (signal) => this.#ask(text, exchange, signal));
      breaker.succeeded();
      this.#deps.countEmbedding('embedded');
      return vector;
    } catch (error) {
      if (exchange.closed || error instanceof Crowded) {
        breaker.abandoned(exchange.clientIp);
        if (!exchange.closed) this.#deps.countEmbedding('overloaded');
        return null;
      }
      if (error instanceof TextRefused) breaker.abandoned(exchange.clientIp);
      else breaker.failed(exchange.clientIp);
      this.#deps.countEmbedding(resultOf(error));
      this.#deps.log(`no embedding of ${host}: ${messageOf(error)}`, exchange);
      return null;
    }
  }

  async #ask(text: string, exchange: Exchange, signal: AbortSignal): Promise<Float32Array> {
    const { endpoint, model, dimensions, timeoutMs } = this.#settings;
    const question = { model, input: text, encoding_format: 'float', ...(dimensions === null ? {} : { dimensions }) };
    const { status, body } = await this.#deps.http.call({
      method: 'POST',
      url: endpoint.url('/embeddings'),
      headers: [
        ...['content-type', 'application/json', 'accept', 'application/json', 'accept-encoding', 'identity'],
        ...['user-agent', 'gw', ...endpoint.headers],
      ],
      body: JSON.stringify(question),
      maxBytes: MOST_BYTES,
      timeoutMs,
      exchange,
      signal,
    });
    if (ABOUT_THE_TEXT.has(status)) throw new TextRefused(`it answered ${status}`);
    if (status !== 200) throw new EmbeddingRejected(`it answered ${status}`);
    return vectorIn(body);
  }
}

/** It has answered, but without a vector. */
class EmbeddingRejected extends Error {}

/** The provider refused this client's text, which says nothing about other texts. */
class TextRefused extends EmbeddingRejected {}

function vectorIn(body: Buffer): Float32Array {
  let answer: unknown;
  try {
    if (isQuickJson(body)) answer = JSON.parse(jsonText(body));
  } catch {
    // Rejected below.
  }
  const data = get(answer, 'data');
  const numbers = Array.isArray(data) ? get(data[0], 'embedding') : undefined;
  const isVector = Array.isArray(numbers) && numbers.length <= MOST_DIMENSIONS && numbers.every(isNumber);
  const vector = isVector ? normalise(numbers) : null;
  if (vector === null) throw new EmbeddingRejected('its answer has no vector');
  return vector;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function resultOf(error: unknown): EmbeddingResult {
  if (error instanceof EmbeddingRejected) return 'rejected';
  return error instanceof HttpCallError && error.failure === 'timeout' ? 'timeout' : 'failed';
}
