/** A shared HTTP cache (RFC 9111) for one config of a plugin: answers requests, and stores responses. */

import {
  type CacheStore,
  changeHeader,
  type Exchange,
  type HeaderList,
  headerOf,
  messageOf,
  ownerOf,
  problem,
  StateUnavailable,
} from '../../kit.ts';
import { directivesOf } from './cache-control.ts';
import { cacheKey, digest, epochKey, keyedQuery, keyHasHeaders, urlKey } from './cache-key.ts';
import { type CacheRules, readCacheRules } from './cache-rules.ts';
import { clientHas, notModified, refreshed, validators } from './conditional.ts';
import { type Flight, Flights, landingOf } from './flights.ts';
import { freshnessOf } from './freshness.ts';
import { invalidate } from './invalidation.ts';
import { Recording } from './recording.ts';
import { after, type Maybe, ResponseStore } from './response-store.ts';
import { ageOf, isFresh } from './reuse.ts';
import { isAuthenticated, isIdentified, storedHeaders, unstorable } from './storable.ts';
import type { StoredResponse } from './stored-response.ts';
import { type CacheResult, type Forward, type Found, TRANSACTION, Transaction } from './transaction.ts';

export interface CacheDeps {
  readonly store: CacheStore;
  /** Milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
  /** A request has ended that the cache has seen. */
  readonly count?: (result: CacheResult) => void;
  /** Logs unexpected failures. */
  log(message: string): void;
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
/** Headers that ask for a part, or for something that only the origin can decide. */
const NOT_FOR_CACHES = ['range', 'if-range', 'if-match', 'if-unmodified-since', 'upgrade'];
/** For which a stale response may stand in (RFC 5861, section 4). */
const ERRORS = new Set([500, 502, 503, 504]);
/** Fetches of one key that a request waits for, one after another. */
const MOST_WAITS = 3;

export class ResponseCache {
  readonly rules: CacheRules;
  readonly count: (result: CacheResult) => void;
  readonly #id: string;
  readonly #store: ResponseStore;
  readonly #flights: Flights;
  readonly #now: () => number;
  readonly #log: (message: string) => void;

  /** `rules`: as `host_cache_open` takes them. Throws CacheRulesError. */
  constructor(rules: string, { store, now = Date.now, log, count = () => {} }: CacheDeps) {
    this.count = count;
    this.rules = readCacheRules(rules);
    this.#id = digest(rules);
    this.#store = new ResponseStore(store, this.rules);
    this.#flights = new Flights(now);
    this.#now = now;
    this.#log = log;
  }

  /**
   * Returns true if `Exchange.answer` is the stored response, or says that nothing is stored; `partition`: consumers
   * that may share it.
   */
  lookup(exchange: Exchange, owner: object | null, partition: string): Maybe<boolean> {
    if (TRANSACTION.of(exchange) !== null) return false;
    const { rules } = this;
    const transaction = new Transaction(this, owner, partition, exchange);
    if (!rules.methods.has(exchange.method)) {
      transaction.forward = 'method';
      TRANSACTION.set(exchange, transaction);
      return false;
    }
    // Over HTTP/2 no header asks for an upgrade.
    const upgrades = exchange.upgrade !== null;
    if (
      upgrades ||
      exchange.bodyStream !== null ||
      NOT_FOR_CACHES.some((name) => headerOf(exchange.headers, name) !== undefined)
    ) {
      TRANSACTION.set(exchange, transaction);
      return false;
    }
    transaction.query = keyedQuery(exchange.query, rules);
    transaction.key = cacheKey(exchange, { rules, id: this.#id, partition, query: transaction.query });
    transaction.epochKey = epochKey(exchange.operation?.api ?? '', exchange.path);
    return this.#look(exchange, transaction, 0);
  }

  /** In the response hook. True if another answer stands in the response's place. */
  settle(exchange: Exchange): Maybe<boolean> {
    const transaction = TRANSACTION.of(exchange);
    if (transaction === null || transaction.cache !== this || transaction.settled) return false;
    transaction.settled = true;
    if (transaction.fetches) return this.#settleFetch(exchange, transaction);
    if (!SAFE.has(exchange.method)) {
      if (!this.rules.invalidate || exchange.response.status >= 400) return false;
      return after(invalidate(exchange, this.#store), () => false);
    }
    this.#tell(exchange.response.headers, transaction, '');
    return false;
  }

  #look(exchange: Exchange, transaction: Transaction, waits: number): Maybe<boolean> {
    transaction.lookedAt = this.#flights.stored;
    return after(this.#store.find(transaction), (found) => this.#decide(exchange, transaction, found, waits));
  }

  #decide(exchange: Exchange, transaction: Transaction, found: Found | null, waits: number): Maybe<boolean> {
    if (exchange.closed) return false;
    TRANSACTION.set(exchange, transaction);
    transaction.found = found;
    if (found === null) {
      transaction.detail = 'state-unavailable';
      return false;
    }
    const { stored } = found;
    const age = stored === null ? 0 : ageOf(stored, this.#now());
    if (stored !== null && isFresh(stored, age, transaction.request, transaction.directives, this.rules)) {
      return this.#answer(exchange, transaction, stored, age, 'hit');
    }
    transaction.forward = forwardOf(found, age);
    if (transaction.directives.has('only-if-cached')) {
      exchange.answer = { problem: problem('upstream-timeout', 'Nothing that is stored satisfies only-if-cached.') };
      return true;
    }
    if (transaction.directives.has('no-store')) {
      transaction.forward = 'request';
      return false;
    }
    if (exchange.method !== 'GET') return false;
    const flight = this.#flights.at(found.key);
    const mayWait = this.#flights.mayStore(found.key);
    if (flight !== undefined) {
      const stale = stored !== null && age - stored.lifetime < stored.whileRevalidating;
      if (stale && transaction.forward === 'stale') return this.#answer(exchange, transaction, stored, age, 'hit');
      if (mayWait && waits < MOST_WAITS) return this.#wait(exchange, transaction, flight, waits);
    } else if (mayWait) {
      // A store outside of this process was asked before another request stored its response.
      if (transaction.lookedAt !== this.#flights.stored && waits < MOST_WAITS)
        return this.#look(exchange, transaction, waits + 1);
      transaction.flight = this.#flights.begin(found.key, ownerOf(exchange));
    }
    this.#fetch(exchange, transaction);
    return false;
  }

  async #wait(exchange: Exchange, transaction: Transaction, flight: Flight, waits: number): Promise<boolean> {
    // While it waits, it belongs to no cache.
    TRANSACTION.set(exchange, null);
    const landing = await landingOf(flight, this.rules.lockTimeout * 1000);
    if (exchange.closed) return false;
    transaction.collapsed = true;
    if (landing === null || landing === 'unstorable') {
      TRANSACTION.set(exchange, transaction);
      this.#fetch(exchange, transaction);
      return false;
    }
    transaction.lookedAt = this.#flights.stored;
    const found = await this.#store.find(transaction);
    const stored = found?.stored ?? null;
    const age = stored === null ? 0 : ageOf(stored, this.#now());
    if (landing === 'stale' && stored !== null && age - stored.lifetime < stored.ifError) {
      return this.#answer(exchange, transaction, stored, age, 'hit');
    }
    return this.#decide(exchange, transaction, found, waits + 1);
  }

  /**
   * Passes the request on to the upstream, in the form of the key, with the cache's conditions in place of the
   * client's.
   */
  #fetch(exchange: Exchange, transaction: Transaction): void {
    transaction.fetches = true;
    transaction.sentAt = this.#now();
    transaction.staged = exchange.response.staged;
    exchange.response.staged = null;
    exchange.query = transaction.query;
    transaction.keyHasHeaders = keyHasHeaders(exchange, this.rules);
    transaction.urlKey = urlKey(exchange, {
      rules: this.rules,
      id: this.#id,
      partition: transaction.partition,
      query: transaction.query,
    });
    for (const name of ['if-none-match', 'if-modified-since']) changeHeader(exchange.headers, 'remove', name, '');
    const stored = transaction.found?.stored ?? null;
    const question = stored === null ? null : validators(stored.headers);
    if (question !== null) {
      exchange.headers.push(...question);
      transaction.validates = true;
    }
    exchange.onClose(() => transaction.close());
  }

  #settleFetch(exchange: Exchange, transaction: Transaction): boolean {
    const stored = transaction.found?.stored ?? null;
    const receivedAt = this.#now();
    if (stored !== null && transaction.validates && exchange.response.status === 304) {
      return this.#renewed(exchange, transaction, stored, receivedAt);
    }
    if (stored !== null && ERRORS.has(exchange.response.status)) {
      const age = ageOf(stored, receivedAt);
      if (age - stored.lifetime < stored.ifError) {
        transaction.flight?.land('stale');
        return this.#answer(exchange, transaction, stored, age, `fwd=stale;fwd-status=${exchange.response.status}`);
      }
    }
    const response = this.#storable(exchange, transaction, receivedAt);
    if (response === null) transaction.flight?.land('unstorable');
    else if (exchange.response.streams) {
      transaction.recording = new Recording(
        exchange,
        this.rules.maxBodyBytes,
        (body) => this.#commit(transaction, { ...response, body }),
        // Another client may have room for it.
        (why) => transaction.flight?.land(why === 'too-large' ? 'unstorable' : 'abandoned'),
      );
    } else this.#commit(transaction, response);
    this.#restage(exchange.response.headers, transaction);
    this.#tell(exchange.response.headers, transaction, response === null ? '' : ';stored');
    return false;
  }

  /**
   * Returns the response to store, with the body if it is in memory; null if it may not be stored, and
   * `Transaction.detail` says why.
   */
  #storable(exchange: Exchange, transaction: Transaction, receivedAt: number): StoredResponse | null {
    const { status, headers, body: sent, endsByClosing } = exchange.response;
    const directives = directivesOf(headers);
    const authenticated = isAuthenticated(transaction.request);
    const why = unstorable(
      {
        ...{ status, headers, directives, authenticated, endsByClosing },
        authenticatedLater: isIdentified(exchange.headers) && !isIdentified(transaction.request),
        partitioned: transaction.partition !== '',
      },
      this.rules,
    );
    const body = typeof sent === 'string' ? Buffer.from(sent) : (sent ?? new Uint8Array(0));
    if (why !== null || body.length > this.rules.maxBodyBytes) {
      transaction.detail = why ?? 'too-large';
      return null;
    }
    const times = { sentAt: transaction.sentAt, receivedAt };
    const freshness = freshnessOf(status, headers, directives, times, this.rules);
    if (freshness === null) return null;
    const epoch = transaction.found?.epoch ?? '';
    const response = { status, headers: storedHeaders(headers, receivedAt), body, receivedAt };
    const stored: StoredResponse = { kind: 'response', ...response, epoch, ...freshness };
    return this.#store.keeps(stored) > 0 ? stored : null;
  }

  /** The upstream confirms that the stored response is still valid (RFC 9111, section 4.3.4). */
  #renewed(exchange: Exchange, transaction: Transaction, stored: StoredResponse, receivedAt: number): boolean {
    exchange.response.status = stored.status;
    exchange.response.headers = refreshed(stored.headers, exchange.response.headers);
    exchange.response.body = stored.body;
    const renewed = this.#storable(exchange, transaction, receivedAt);
    if (renewed === null) transaction.flight?.land('unstorable');
    else this.#commit(transaction, renewed);
    const headers = storedHeaders(exchange.response.headers, receivedAt);
    const says = `fwd=stale;fwd-status=304${renewed === null ? '' : ';stored'}`;
    return this.#answer(exchange, transaction, { ...(renewed ?? stored), headers }, renewed?.initialAge ?? 0, says);
  }

  #commit(transaction: Transaction, response: StoredResponse): void {
    transaction.stores = true;
    this.#store.put(transaction, response).then(
      // Also for a fetch of another request whose client is slow: waiting requests need not wait for it.
      () => this.#flights.at(transaction.found?.key ?? '')?.land('stored'),
      (error: unknown) => {
        transaction.flight?.land('unstorable');
        if (!(error instanceof StateUnavailable)) this.#log(`a response could not be stored: ${messageOf(error)}`);
      },
    );
  }

  #answer(exchange: Exchange, transaction: Transaction, stored: StoredResponse, age: number, says: string): true {
    const has = stored.status === 200 && clientHas(transaction.request, stored.headers);
    const headers = has ? notModified(stored.headers) : [...stored.headers];
    headers.push('age', String(Math.floor(age)));
    this.#restage(headers, transaction);
    if (this.rules.statusHeader) {
      const ttl = `;ttl=${Math.floor(stored.lifetime - age)}`;
      headers.push('cache-status', `gw;${says}${ttl}${transaction.collapsed ? ';collapsed' : ''}`);
    }
    exchange.answer = { status: has ? 304 : stored.status, headers, body: has ? null : stored.body };
    TRANSACTION.set(exchange, transaction);
    transaction.stored = has ? null : stored.body;
    transaction.hit = says === 'hit';
    transaction.settled = true;
    return true;
  }

  /** Plugins before the cache stand outside of it: their staged headers apply to any response. */
  #restage(headers: HeaderList, transaction: Transaction): void {
    for (const { op, name, value } of transaction.staged ?? []) changeHeader(headers, op, name, value);
    transaction.staged = null;
  }

  #tell(headers: HeaderList, transaction: Transaction, more: string): void {
    if (!this.rules.statusHeader) return;
    const detail = transaction.detail === '' ? '' : `;detail=${transaction.detail}`;
    headers.push(
      'cache-status',
      `gw;fwd=${transaction.forward}${more}${transaction.collapsed ? ';collapsed' : ''}${detail}`,
    );
  }
}

function forwardOf({ stored, varies }: Found, age: number): Forward {
  if (stored === null) return varies ? 'vary-miss' : 'uri-miss';
  return age < stored.lifetime ? 'request' : 'stale';
}
