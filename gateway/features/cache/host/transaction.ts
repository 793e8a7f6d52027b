/** State of a cache for one request, between its request hook and its response hook. */

import {
  type Exchange,
  type HeaderList,
  type OwnerPath,
  ownerOf,
  type RequestPart,
  RequestSlot,
  type ResponseSink,
  type StagedHeader,
} from '../../kit.ts';
import { type Directives, directivesOf } from './cache-control.ts';
import type { Flight } from './flights.ts';
import { type Recording, RecordingSink } from './recording.ts';
import type { StoredResponse } from './stored-response.ts';

/** The stored entry for a request. */
export interface Found {
  /** Its key in the store, as far as it is known before there is a response. */
  readonly key: string;
  /** Null if nothing is stored, or it has been invalidated. */
  readonly stored: StoredResponse | null;
  /** Current epoch of the path. */
  readonly epoch: string;
  /** There are responses of this URL, for other request headers. */
  readonly varies: boolean;
}

/** Reasons for which a request goes on to the upstream (RFC 9211, section 2.2). */
export type Forward = 'bypass' | 'method' | 'uri-miss' | 'vary-miss' | 'stale' | 'request';
/** Results of the cache for a request, for the access log and the metrics. */
export type CacheResult = 'hit' | Forward;

/** The cache that the transaction belongs to. */
export interface TransactionCache {
  /** Counts one more request with this result. */
  count(result: CacheResult): void;
}

export class Transaction implements RequestPart {
  readonly cache: TransactionCache;
  /** The cache's place in the chain. */
  readonly owner: object | null;
  /** Consumers that may see the stored response; empty: everyone. */
  readonly partition: string;
  /** The request's headers as the cache saw them. */
  readonly request: HeaderList;
  readonly directives: Directives;
  /** Owner of the request: its consumer, else its network. */
  readonly client: OwnerPath;
  /** Owner that the stored response counts for. */
  readonly sharesOf: OwnerPath;
  key = '';
  /** Key of the list of responses stored for its URL; set if its response may be stored. */
  urlKey = '';
  /** Others of its URL may have other keys. */
  keyHasHeaders = false;
  epochKey = '';
  query: string | undefined;
  forward: Forward = 'bypass';
  /** Answered from the store, without the upstream. */
  hit = false;
  /** A token for `Cache-Status`; empty: no token. */
  detail = '';
  /** Another request's fetch was waited for. */
  collapsed = false;
  found: Found | null = null;
  /** Its response hook has run. */
  settled = false;
  /** Its response may be stored, and answered from the store. */
  fetches = false;
  /** The upstream is asked whether `found` still holds. */
  validates = false;
  flight: Flight | null = null;
  /** Milliseconds since the epoch. */
  sentAt = 0;
  /** Headers that plugins before the cache have staged: theirs to say anew for each request. */
  staged: StagedHeader[] | null = null;
  /** `Flights.stored` when it was looked for. */
  lookedAt = 0;
  /** The stored body that answers the request. */
  stored: Uint8Array | null = null;
  /** Set if the streaming response is to be recorded. */
  recording: Recording | null = null;
  /** Its response is whole, and on its way into the store. */
  stores = false;

  constructor(cache: TransactionCache, owner: object | null, partition: string, exchange: Exchange) {
    this.cache = cache;
    this.owner = owner;
    this.partition = partition;
    this.request = [...exchange.headers];
    this.directives = directivesOf(exchange.headers);
    this.client = ownerOf(exchange);
    this.sharesOf = ['responses', ...this.client];
  }

  get result(): CacheResult {
    return this.hit ? 'hit' : this.forward;
  }

  get logged(): string {
    return `,"cache":"${this.result}"`;
  }

  get tap(): ((sink: ResponseSink) => ResponseSink) | null {
    const { recording } = this;
    return recording && ((sink) => new RecordingSink(sink, recording));
  }

  finished(): void {
    this.cache.count(this.result);
  }

  /** The client has gone, or has its answer: an incomplete response stays incomplete. */
  close(): void {
    if (!this.stores) this.flight?.land('abandoned');
  }
}

/** State of the one cache in the chain that the request belongs to. */
export const TRANSACTION = new RequestSlot<Transaction>();
