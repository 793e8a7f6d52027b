/** The config of `ai-cache`, whose schema has checked types. */
import type { JsonObject } from '../../../artifact/format.ts';
import { digest } from '../../cache/cache-key.ts';
import { canonicalJson } from './canonical-json.ts';

export interface AiCacheSettings {
  /** Of the config: another has other answers. */
  readonly id: string;
  /** Who gets an answer that is stored: the consumer who asked, or everyone. */
  readonly share: 'consumer' | 'all';
  /** Seconds. */
  readonly ttl: number;
  readonly maxEntryBytes: number;
  /** Requests with a temperature above 0 count, too. */
  readonly sampled: boolean;
  /** `no-cache` of a request asks for an answer that is new. */
  readonly clientControl: boolean;
  readonly statusHeader: boolean;
}

export function cacheSettings(config: JsonObject): AiCacheSettings {
  return {
    id: digest(canonicalJson(config)),
    share: config['share'] === 'all' ? 'all' : 'consumer',
    ttl: Number(config['ttl']),
    maxEntryBytes: Number(config['max_entry_bytes']),
    sampled: config['sampled'] === true,
    clientControl: config['client_control'] === true,
    statusHeader: config['status_header'] !== false,
  };
}
