/** Finds questions of the same meaning that differ only in the words of the user's last message. */

import { type CacheStore, type Exchange, KeyedMutex, type OwnerPath } from '../../../../kit.ts';
import { RESTORED_PROMPT } from '../prompts/restored-prompt.ts';
import type { SimilaritySettings } from './cache-settings.ts';
import { Embedder, type EmbedderDeps } from './embedder.ts';
import { lastUserMessage } from './last-user-message.ts';
import { indexKeyOf, type Question } from './question.ts';
import { decodeIndex, encodeIndex, type Similar, similarTo } from './vector-index.ts';

/** A question as a vector, with the index of its context. */
export interface Meaning {
  readonly vector: Float32Array;
  readonly indexKey: string;
  /** The nearest first. */
  readonly similar: readonly Similar[];
}

export class SimilarQuestions {
  readonly #settings: SimilaritySettings;
  readonly #ttl: number;
  readonly #store: CacheStore;
  readonly #embedder: Embedder;
  readonly #turns = new KeyedMutex();

  /** `ttl`: seconds for which an answer is stored. */
  constructor(settings: SimilaritySettings, ttl: number, { store, ...deps }: EmbedderDeps & { store: CacheStore }) {
    this.#settings = settings;
    this.#ttl = ttl;
    this.#store = store;
    this.#embedder = new Embedder(settings.embedding, deps);
  }

  /** Returns null if it has no text, or its vector cannot be had. Rejects with StateUnavailable. */
  async find(exchange: Exchange, question: Question): Promise<Meaning | null> {
    // An answer with the placeholders of another question could not be put right.
    const message = RESTORED_PROMPT.of(exchange) === null ? lastUserMessage(question) : null;
    const vector = message === null ? null : await this.#embedder.vectorOf(message.text, exchange);
    if (message === null || vector === null) return null;
    const indexKey = indexKeyOf(question, message.rest);
    const { threshold } = this.#settings;
    const questions = decodeIndex(await this.#store.get(indexKey));
    return { vector, indexKey, similar: similarTo(vector, questions, { threshold, now: Date.now() }) };
  }

  /** Rejects with StateUnavailable. */
  remember({ vector, indexKey }: Meaning, key: string, owner: OwnerPath): Promise<void> {
    // In turns: two that read the index at once would each lose the other's entry.
    return this.#turns.run(indexKey, async () => {
      const now = Date.now();
      const before = decodeIndex(await this.#store.get(indexKey));
      const kept = before.filter(
        (each) => each.key !== key && each.until > now && each.vector.length === vector.length,
      );
      const questions = [...kept, { key, until: now + this.#ttl * 1000, vector }].slice(-this.#settings.maxEntries);
      await this.#store.set(indexKey, encodeIndex(questions), this.#ttl, owner);
    });
  }
}
