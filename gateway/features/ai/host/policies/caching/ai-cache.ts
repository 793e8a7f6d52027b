/** Answers of AI providers to questions that were asked before (docs/reference/plugins.md#ai-cache). */
import { directivesOf } from '../../../../cache/host/cache-control.ts';
import { Recording } from '../../../../cache/host/recording.ts';
import { ageOf, isFresh } from '../../../../cache/host/reuse.ts';
import { isIdentified } from '../../../../cache/host/storable.ts';
import { decodeStored, encodeStored, type StoredResponse } from '../../../../cache/host/stored-response.ts';
import {
  type Answer,
  type CacheStore,
  type Exchange,
  type HeaderList,
  type HttpCaller,
  headerOf,
  type JsonObject,
  messageOf,
  type OwnerPath,
  ownerOf,
  problem,
  StateUnavailable,
} from '../../../../kit.ts';
import { parsedRequest } from '../../proxy/request/parsed-request.ts';
import { TokenCount } from '../../proxy/token-count.ts';
import { type FilesRule, filesRule } from '../files-rule.ts';
import { type AiCacheSettings, cacheSettings } from './cache-settings.ts';
import { CACHED_REQUEST, CachedRequest, type CacheResult } from './cached-request.ts';
import type { EmbeddingResult } from './embedder.ts';
import { keyOf, type Question, questionOf } from './question.ts';
import { type Meaning, SimilarQuestions } from './similar-questions.ts';
import { isWholeAnswer } from './whole-answer.ts';

export interface AiCacheDeps {
  readonly store: CacheStore;
  readonly http: HttpCaller;
  /** A request has ended that the cache has seen. */
  count(result: CacheResult): void;
  /** An embedding was asked for. */
  countEmbedding(result: EmbeddingResult): void;
  /** `exchange`: the request that it is about; null: something that must not fail has failed. */
  log(level: 'warn' | 'error', message: string, exchange: Exchange | null): void;
}

interface Found {
  readonly stored: StoredResponse;
  /** Null if it is the answer to the same question. */
  readonly similarity: number | null;
}

/** Answers that are looked for: those of a store with little room may be gone before their vectors are. */
const MOST_TRIED = 3;

/** Headers that hold for every answer to the question: others, such as rate limits, belong to the original request. */
const STORED_HEADERS = ['content-type', 'warning'];

export class AiCache {
  readonly #settings: AiCacheSettings;
  readonly #deps: AiCacheDeps;
  readonly #similar: SimilarQuestions | null;
  readonly files: FilesRule;

  /** Throws if the config cannot be used. */
  constructor(config: JsonObject, deps: AiCacheDeps) {
    this.#settings = cacheSettings(config);
    this.#deps = deps;
    this.files = filesRule(config);
    const { semantic, ttl } = this.#settings;
    this.#similar =
      semantic === null
        ? null
        : new SimilarQuestions(semantic, ttl, {
            ...deps,
            log: (message, exchange) => deps.log('warn', message, exchange),
          });
  }

  /**
   * Returns null if the request goes on. `owner`: identifies the cache's place in the chain. Throws AiRefusal if the
   * body is malformed.
   */
  async answer(exchange: Exchange, owner: object | null): Promise<Answer | null> {
    if (CACHED_REQUEST.of(exchange) !== null) return null;
    const cached = new CachedRequest(owner, isIdentified(exchange.headers), this.#deps.count);
    CACHED_REQUEST.set(exchange, cached);
    const question = questionOf(exchange, parsedRequest(exchange), this.#settings);
    if (typeof question === 'string') {
      cached.detail = question;
      return null;
    }
    cached.question = question;
    cached.key = keyOf(question);
    const found = await this.#find(exchange, cached, question);
    if (exchange.closed) return null;
    if (found !== null) return this.#hit(cached, found);
    if (!directivesOf(exchange.headers).has('only-if-cached')) return null;
    cached.settled = true;
    return { problem: problem('upstream-timeout', 'Nothing that is stored satisfies only-if-cached.') };
  }

  /** Runs in the response hook: stores the answer if it is cacheable, its body as it passes. */
  settle(exchange: Exchange): void {
    const cached = CACHED_REQUEST.of(exchange);
    if (cached === null || cached.settled) return;
    cached.settled = true;
    const stores = this.#stores(exchange, cached);
    if (this.#settings.statusHeader) exchange.response.headers.push('cache-status', missStatus(cached, stores));
  }

  async #find(exchange: Exchange, cached: CachedRequest, question: Question): Promise<Found | null> {
    const isFreshHere = (stored: StoredResponse) =>
      isFresh(stored, ageOf(stored, Date.now()), exchange.headers, directives, this.#settings);
    const directives = directivesOf(exchange.headers);
    try {
      const stored = await this.#stored(cached.key);
      if (stored !== null && isFreshHere(stored)) return { stored, similarity: null };
      cached.result = stored !== null || directives.has('no-store') ? 'request' : 'miss';
      if (directives.has('no-store')) cached.question = null;
      return cached.result === 'miss' ? await this.#similarTo(exchange, cached, question, isFreshHere) : null;
    } catch (error) {
      if (!(error instanceof StateUnavailable)) throw error;
      cached.question = null;
      cached.result = 'bypass';
      cached.detail = 'state-unavailable';
      return null;
    }
  }

  async #stored(key: string): Promise<StoredResponse | null> {
    const stored = decodeStored(await this.#deps.store.get(key));
    return stored?.kind === 'response' ? stored : null;
  }

  async #similarTo(
    exchange: Exchange,
    cached: CachedRequest,
    question: Question,
    isUsable: (stored: StoredResponse) => boolean,
  ): Promise<Found | null> {
    cached.meaning = (await this.#similar?.find(exchange, question)) ?? null;
    for (const { key, similarity } of cached.meaning?.similar.slice(0, MOST_TRIED) ?? []) {
      const stored = await this.#stored(key);
      if (stored !== null && isUsable(stored)) return { stored, similarity };
    }
    return null;
  }

  #hit(cached: CachedRequest, { stored, similarity }: Found): Answer {
    cached.result = similarity === null ? 'hit' : 'similar';
    cached.settled = true;
    cached.stored = stored.body;
    const age = Math.floor(ageOf(stored, Date.now()));
    const headers = [...stored.headers, 'age', String(age)];
    const detail = similarity === null ? '' : `;detail="similarity ${similarity.toFixed(3)}"`;
    if (this.#settings.statusHeader) headers.push('cache-status', `gw;hit;ttl=${stored.lifetime - age}${detail}`);
    return { status: stored.status, headers, body: stored.body };
  }

  /**
   * Reports whether the answer is stored now; else `CachedRequest.detail` says why, as far as is known before its body
   * has passed.
   */
  #stores(exchange: Exchange, cached: CachedRequest): boolean {
    if (cached.question === null) return false;
    cached.detail = this.#unstorable(exchange, cached, cached.question) ?? '';
    if (cached.detail !== '') return false;
    const headers = STORED_HEADERS.flatMap((name) => valuesOf(exchange.response.headers, name));
    if (cached.question.isStream) headers.push('cache-control', 'no-cache');
    if (!exchange.response.streams) {
      this.#put(exchange, cached, headers, bodyOf(exchange));
      return true;
    }
    cached.detail = 'stored-if-whole';
    const { question } = cached;
    const whole = (body: Buffer) => {
      if (isComplete(exchange, question, body)) this.#put(exchange, cached, headers, body);
    };
    cached.recording = new Recording(exchange, this.#settings.maxEntryBytes, whole, () => {});
    return false;
  }

  #unstorable(exchange: Exchange, cached: CachedRequest, question: Question): string | null {
    if (exchange.response.status !== 200) return 'status';
    // Answers of other dispatchers may depend on anything.
    if (TokenCount.of(exchange) === null) return 'not-of-ai-proxy';
    if (isIdentified(exchange.headers) && !cached.isIdentified) return 'authenticated-later';
    if (headerOf(exchange.response.headers, 'set-cookie') !== undefined) return 'set-cookie';
    if (exchange.response.streams) return null;
    const body = bodyOf(exchange);
    if (body.length > this.#settings.maxEntryBytes) return 'too-large';
    return isComplete(exchange, question, body) ? null : 'not-whole';
  }

  #put(exchange: Exchange, { key, meaning }: CachedRequest, headers: HeaderList, body: Uint8Array): void {
    const { ttl } = this.#settings;
    const stored = encodeStored({
      ...{ kind: 'response', status: 200, headers, body, receivedAt: Date.now(), epoch: '' },
      ...{ lifetime: ttl, initialAge: 0, whileRevalidating: 0, ifError: 0 },
    });
    this.#set(key, stored, meaning, ['answers', ...ownerOf(exchange)]).catch((error: unknown) => {
      if (!(error instanceof StateUnavailable))
        this.#deps.log('error', `an answer could not be stored: ${messageOf(error)}`, null);
    });
  }

  async #set(key: string, stored: Uint8Array, meaning: Meaning | null, owner: OwnerPath): Promise<void> {
    await this.#deps.store.set(key, stored, this.#settings.ttl, owner);
    if (meaning !== null) await this.#similar?.remember(meaning, key, owner);
  }
}

/** ai-proxy and the answer itself say that it is whole. */
function isComplete(exchange: Exchange, question: Question, body: Uint8Array): boolean {
  return TokenCount.of(exchange)?.outcome === 'complete' && isWholeAnswer(question, body);
}

function missStatus({ result, detail }: CachedRequest, stores: boolean): string {
  return `gw;fwd=${result}${stores ? ';stored' : ''}${detail === '' ? '' : `;detail=${detail}`}`;
}

function valuesOf(headers: HeaderList, name: string): HeaderList {
  return headers.flatMap((each, i) => (i % 2 === 0 && each === name ? [name, headers[i + 1] ?? ''] : []));
}

function bodyOf({ response: { body } }: Exchange): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array(0));
}
