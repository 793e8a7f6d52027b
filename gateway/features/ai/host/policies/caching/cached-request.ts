/** State of the cache for one request, between its request hook and its response hook. */
import { type Recording, RecordingSink } from '../../../../cache/host/recording.ts';
import { type RequestPart, RequestSlot, type ResponseSink } from '../../../../kit.ts';
import type { Question } from './question.ts';
import type { Meaning } from './similar-questions.ts';

/**
 * Outcome of a request. `similar`: it got the answer to a question with the same meaning; `request`: it declines stored
 * answers, or that its own is stored; `bypass`: requests of its kind are not cached.
 */
export const CACHE_RESULTS = ['hit', 'similar', 'miss', 'request', 'bypass'] as const;
export type CacheResult = (typeof CACHE_RESULTS)[number];

export class CachedRequest implements RequestPart {
  /** The cache's place in the chain. */
  readonly owner: object | null;
  /** Null if its answer is not stored. */
  question: Question | null = null;
  key = '';
  /** Null if unknown. */
  meaning: Meaning | null = null;
  result: CacheResult = 'bypass';
  /** A token for `Cache-Status`; empty: no token. */
  detail = '';
  /** A plugin had identified the caller when the cache was asked. */
  readonly isIdentified: boolean;
  /** Its response hook has run, or has nothing to do. */
  settled = false;
  stored: Uint8Array | null = null;
  recording: Recording | null = null;
  readonly #count: (result: CacheResult) => void;

  constructor(owner: object | null, isIdentified: boolean, count: (result: CacheResult) => void) {
    this.owner = owner;
    this.isIdentified = isIdentified;
    this.#count = count;
  }

  get logged(): string {
    return `,"ai_cache":"${this.result}"`;
  }

  get tap(): ((sink: ResponseSink) => ResponseSink) | null {
    const { recording } = this;
    return recording && ((sink) => new RecordingSink(sink, recording));
  }

  finished(): void {
    this.#count(this.result);
  }
}

/** State of the first cache in the chain. */
export const CACHED_REQUEST = new RequestSlot<CachedRequest>();
