/** A shared HTTP cache (RFC 9111), as one config of a plugin has it: what requests are answered with, and what is stored. */
import { changeHeader, type Exchange, type HeaderList, headerOf } from '../../exchange.ts';
import { messageOf } from '../../message-of.ts';
import { problem } from '../../problems.ts';
import type { CacheStore } from '../../state/cache-store.ts';
import { StateUnavailable } from '../../state/state.ts';
import type { BoundPlugin } from '../../wasm/plugin.ts';
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
import { type Forward, type Found, Visit } from './visit.ts';

export interface CacheDeps {
  readonly store: CacheStore;
  /** Milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
  /** What must not fail has failed. */
  log(message: string): void;
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
/** They ask for a part, or for what only the origin can decide. */
const NOT_FOR_CACHES = ['range', 'if-range', 'if-match', 'if-unmodified-since', 'upgrade'];
/** For which a stale response may stand in (RFC 5861, section 4). */
const ERRORS = new Set([500, 502, 503, 504]);
/** Fetches of one key that a request waits for, one after another. */
const MOST_WAITS = 3;

export class ResponseCache {
  readonly rules: CacheRules;
  readonly #id: string;
  readonly #store: ResponseStore;
  readonly #flights: Flights;
  readonly #now: () => number;
  readonly #log: (message: string) => void;

  /** `rules`: as `host_cache_open` takes them. Throws CacheRulesError. */
  constructor(rules: string, { store, now = Date.now, log }: CacheDeps) {
    this.rules = readCacheRules(rules);
    this.#id = digest(rules);
    this.#store = new ResponseStore(store, this.rules);
    this.#flights = new Flights(now);
    this.#now = now;
    this.#log = log;
  }

  /** True where `Exchange.answer` is what is stored, or says that nothing is; `partition`: who else may see it. */
  lookup(x: Exchange, owner: BoundPlugin | null, partition: string): Maybe<boolean> {
    if (x.caching !== null) return false;
    const { rules } = this;
    const visit = new Visit(this, owner, partition, x);
    if (!rules.methods.has(x.method)) {
      visit.forward = 'method';
      x.caching = visit;
      return false;
    }
    if (x.bodyStream !== null || NOT_FOR_CACHES.some((name) => headerOf(x.headers, name) !== undefined)) {
      x.caching = visit;
      return false;
    }
    visit.query = keyedQuery(x.query, rules);
    visit.key = cacheKey(x, { rules, id: this.#id, partition, query: visit.query });
    visit.epochKey = epochKey(x.operation?.api ?? '', x.path);
    return this.#look(x, visit, 0);
  }

  /** In the response hook. True where another answer stands in the response's place. */
  settle(x: Exchange): Maybe<boolean> {
    const visit = x.caching;
    if (visit === null || visit.cache !== this || visit.settled) return false;
    visit.settled = true;
    if (visit.fetches) return this.#settleFetch(x, visit);
    if (!SAFE.has(x.method)) {
      if (!this.rules.invalidate || x.responseStatus >= 400) return false;
      return after(invalidate(x, this.#store), () => false);
    }
    this.#tell(x.responseHeaders, visit, '');
    return false;
  }

  #look(x: Exchange, visit: Visit, waits: number): Maybe<boolean> {
    visit.lookedAt = this.#flights.stored;
    return after(this.#store.find(visit), (found) => this.#decide(x, visit, found, waits));
  }

  #decide(x: Exchange, visit: Visit, found: Found | null, waits: number): Maybe<boolean> {
    if (x.closed) return false;
    x.caching = visit;
    visit.found = found;
    if (found === null) {
      visit.detail = 'state-unavailable';
      return false;
    }
    const { stored } = found;
    const age = stored === null ? 0 : ageOf(stored, this.#now());
    if (stored !== null && isFresh(stored, age, visit.request, visit.directives, this.rules)) {
      return this.#answer(x, visit, stored, age, 'hit');
    }
    visit.forward = forwardOf(found, age);
    if (visit.directives.has('only-if-cached')) {
      x.answer = { problem: problem('upstream-timeout', 'Nothing that is stored satisfies only-if-cached.') };
      return true;
    }
    if (visit.directives.has('no-store')) {
      visit.forward = 'request';
      return false;
    }
    if (x.method !== 'GET') return false;
    const flight = this.#flights.at(found.key);
    const mayWait = this.#flights.mayStore(found.key);
    if (flight !== undefined) {
      const stale = stored !== null && age - stored.lifetime < stored.whileRevalidating;
      if (stale && visit.forward === 'stale') return this.#answer(x, visit, stored, age, 'hit');
      if (mayWait && waits < MOST_WAITS) return this.#wait(x, visit, flight, waits);
    } else if (mayWait) {
      // A store that is not in this process has been asked before what another request stored meanwhile.
      if (visit.lookedAt !== this.#flights.stored && waits < MOST_WAITS) return this.#look(x, visit, waits + 1);
      visit.flight = this.#flights.begin(found.key);
    }
    this.#fetch(x, visit);
    return false;
  }

  async #wait(x: Exchange, visit: Visit, flight: Flight, waits: number): Promise<boolean> {
    // While it waits, it is nobody's.
    x.caching = null;
    const landing = await landingOf(flight, this.rules.lockTimeout * 1000);
    if (x.closed) return false;
    visit.collapsed = true;
    if (landing === null || landing === 'unstorable') {
      x.caching = visit;
      this.#fetch(x, visit);
      return false;
    }
    visit.lookedAt = this.#flights.stored;
    const found = await this.#store.find(visit);
    const stored = found?.stored ?? null;
    const age = stored === null ? 0 : ageOf(stored, this.#now());
    if (landing === 'stale' && stored !== null && age - stored.lifetime < stored.ifError) {
      return this.#answer(x, visit, stored, age, 'hit');
    }
    return this.#decide(x, visit, found, waits + 1);
  }

  /** Lets the request go on to the upstream, as the key has it, and with a question of ours in the place of the client's. */
  #fetch(x: Exchange, visit: Visit): void {
    visit.fetches = true;
    visit.sentAt = this.#now();
    visit.staged = x.staged;
    x.staged = null;
    x.query = visit.query;
    visit.keyHasHeaders = keyHasHeaders(x, this.rules);
    visit.urlKey = urlKey(x, { rules: this.rules, id: this.#id, partition: visit.partition, query: visit.query });
    for (const name of ['if-none-match', 'if-modified-since']) changeHeader(x.headers, 'remove', name, '');
    const stored = visit.found?.stored ?? null;
    const question = stored === null ? null : validators(stored.headers);
    if (question !== null) {
      x.headers.push(...question);
      visit.validates = true;
    }
    x.onClose(() => visit.close());
  }

  #settleFetch(x: Exchange, visit: Visit): boolean {
    const stored = visit.found?.stored ?? null;
    const receivedAt = this.#now();
    if (stored !== null && visit.validates && x.responseStatus === 304) {
      return this.#renewed(x, visit, stored, receivedAt);
    }
    if (stored !== null && ERRORS.has(x.responseStatus)) {
      const age = ageOf(stored, receivedAt);
      if (age - stored.lifetime < stored.ifError) {
        visit.flight?.land('stale');
        return this.#answer(x, visit, stored, age, `fwd=stale;fwd-status=${x.responseStatus}`);
      }
    }
    const response = this.#storable(x, visit, receivedAt);
    if (response === null) visit.flight?.land('unstorable');
    else if (x.responseStreams) {
      visit.recording = new Recording(
        this.rules.maxBodyBytes,
        (body) => this.#commit(visit, { ...response, body }),
        () => visit.flight?.land('unstorable'),
      );
    } else this.#commit(visit, response);
    this.#restage(x.responseHeaders, visit);
    this.#tell(x.responseHeaders, visit, response === null ? '' : ';stored');
    return false;
  }

  /** What to store, with the body where it is in memory; null where it may not be, and `Visit.detail` says why. */
  #storable(x: Exchange, visit: Visit, receivedAt: number): StoredResponse | null {
    const { responseStatus: status, responseHeaders, responseBody } = x;
    const directives = directivesOf(responseHeaders);
    const authenticated = isAuthenticated(visit.request);
    const why = unstorable(
      {
        ...{
          status,
          headers: responseHeaders,
          directives,
          authenticated,
          endsByClosing: x.endsByClosing,
        },
        authenticatedLater: isIdentified(x.headers) && !isIdentified(visit.request),
        partitioned: visit.partition !== '',
      },
      this.rules,
    );
    const body = typeof responseBody === 'string' ? Buffer.from(responseBody) : (responseBody ?? new Uint8Array(0));
    if (why !== null || body.length > this.rules.maxBodyBytes) {
      visit.detail = why ?? 'too-large';
      return null;
    }
    const freshness = freshnessOf(
      status,
      responseHeaders,
      directives,
      { sentAt: visit.sentAt, receivedAt },
      this.rules,
    );
    if (freshness === null) return null;
    const headers = storedHeaders(responseHeaders, receivedAt);
    const epoch = visit.found?.epoch ?? '';
    const stored: StoredResponse = { kind: 'response', status, headers, body, receivedAt, epoch, ...freshness };
    return this.#store.keeps(stored) > 0 ? stored : null;
  }

  /** The upstream says that what is stored still holds (RFC 9111, section 4.3.4). */
  #renewed(x: Exchange, visit: Visit, stored: StoredResponse, receivedAt: number): boolean {
    x.responseStatus = stored.status;
    x.responseHeaders = refreshed(stored.headers, x.responseHeaders);
    x.responseBody = stored.body;
    const renewed = this.#storable(x, visit, receivedAt);
    if (renewed === null) visit.flight?.land('unstorable');
    else this.#commit(visit, renewed);
    const headers = storedHeaders(x.responseHeaders, receivedAt);
    const says = `fwd=stale;fwd-status=304${renewed === null ? '' : ';stored'}`;
    return this.#answer(x, visit, { ...(renewed ?? stored), headers }, renewed?.initialAge ?? 0, says);
  }

  #commit(visit: Visit, response: StoredResponse): void {
    visit.stores = true;
    this.#store.put(visit, response).then(
      // Also where another fetches, whose client takes its time: who waits for it need not.
      () => this.#flights.at(visit.found?.key ?? '')?.land('stored'),
      (error: unknown) => {
        visit.flight?.land('unstorable');
        if (!(error instanceof StateUnavailable)) this.#log(`a response could not be stored: ${messageOf(error)}`);
      },
    );
  }

  #answer(x: Exchange, visit: Visit, stored: StoredResponse, age: number, says: string): true {
    const has = stored.status === 200 && clientHas(visit.request, stored.headers);
    const headers = has ? notModified(stored.headers) : [...stored.headers];
    headers.push('age', String(Math.floor(age)));
    this.#restage(headers, visit);
    if (this.rules.statusHeader) {
      const ttl = `;ttl=${Math.floor(stored.lifetime - age)}`;
      headers.push('cache-status', `gw;${says}${ttl}${visit.collapsed ? ';collapsed' : ''}`);
    }
    x.answer = { status: has ? 304 : stored.status, headers, body: has ? null : stored.body };
    x.caching = visit;
    visit.answer = has ? null : stored.body;
    visit.hit = says === 'hit';
    visit.settled = true;
    return true;
  }

  /** Plugins before the cache stand outside of it: what they have staged is put on whatever comes out. */
  #restage(headers: HeaderList, visit: Visit): void {
    for (const { op, name, value } of visit.staged ?? []) changeHeader(headers, op, name, value);
    visit.staged = null;
  }

  #tell(headers: HeaderList, visit: Visit, more: string): void {
    if (!this.rules.statusHeader) return;
    const detail = visit.detail === '' ? '' : `;detail=${visit.detail}`;
    headers.push('cache-status', `gw;fwd=${visit.forward}${more}${visit.collapsed ? ';collapsed' : ''}${detail}`);
  }
}

function forwardOf({ stored, varies }: Found, age: number): Forward {
  if (stored === null) return varies ? 'vary-miss' : 'uri-miss';
  return age < stored.lifetime ? 'request' : 'stale';
}
