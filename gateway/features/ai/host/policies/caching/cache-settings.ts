/** The config of `ai-cache`, whose schema has checked types. */

import { digest } from '../../../../cache/host/cache-key.ts';
import { canonicalJson, type JsonObject } from '../../../../kit.ts';
import { Endpoint, KnownEndpoints } from '../../proxy/targets/endpoint.ts';
import { baseUrlOf } from '../../proxy/targets/provider.ts';
import { numberOf, objectOf } from '../profiles.ts';
import type { EmbeddingSettings } from './embedder.ts';

export interface AiCacheSettings {
  /** Id of the config: another config has other answers. */
  readonly id: string;
  /** Clients that get a stored answer: the consumer who asked, or everyone. */
  readonly share: 'consumer' | 'all';
  /** Seconds. */
  readonly ttl: number;
  readonly maxEntryBytes: number;
  /** Requests with a temperature above 0 count, too. */
  readonly sampled: boolean;
  /** `no-cache` of a request asks for an answer that is new. */
  readonly clientControl: boolean;
  readonly statusHeader: boolean;
  /** Null: a question is found by its words alone. */
  readonly semantic: SimilaritySettings | null;
}

export interface SimilaritySettings {
  readonly embedding: EmbeddingSettings;
  /** Cosine from which on two questions count as the same. */
  readonly threshold: number;
  /** Most entries of one context; the oldest are dropped. */
  readonly maxEntries: number;
}

/** Throws if the config cannot be used. */
export function cacheSettings(config: JsonObject): AiCacheSettings {
  return {
    id: digest(canonicalJson(withoutKey(config))),
    share: config['share'] === 'all' ? 'all' : 'consumer',
    ttl: Number(config['ttl']),
    maxEntryBytes: Number(config['max_entry_bytes']),
    sampled: config['sampled'] === true,
    clientControl: config['client_control'] === true,
    statusHeader: config['status_header'] !== false,
    semantic: config['semantic'] === undefined ? null : similarity(objectOf(config['semantic'])),
  };
}

/** Returns the default base URL for embeddings; null if the config names one, or uses no embeddings. */
export function impliedUrl({ semantic }: JsonObject): string | null {
  const embedding = objectOf(objectOf(semantic)['embedding']);
  return semantic === undefined || embedding['base_url'] !== undefined ? null : baseUrlOf(embedding);
}

function similarity(semantic: JsonObject): SimilaritySettings {
  const embedding = objectOf(semantic['embedding']);
  return {
    threshold: Number(semantic['threshold']),
    maxEntries: Number(semantic['max_entries']),
    embedding: {
      endpoint: new Endpoint(embedding, new KnownEndpoints()),
      model: String(embedding['model']),
      dimensions: numberOf(embedding['dimensions']),
      timeoutMs: Number(embedding['timeout']) * 1000,
    },
  };
}

/** Leaves the key out: changing it keeps the stored answers. */
function withoutKey(config: JsonObject): JsonObject {
  if (config['semantic'] === undefined) return config;
  const semantic = objectOf(config['semantic']);
  const { api_key: _, ...embedding } = objectOf(semantic['embedding']);
  return { ...config, semantic: { ...semantic, embedding } };
}
