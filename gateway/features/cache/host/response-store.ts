/** Stored responses in the state that requests share, each under its key, or several of one URL under keys of their own. */
import { randomUUID } from 'node:crypto';
import { type CacheStore, headerOf, KeyedMutex, type OwnerPath, StateUnavailable } from '../../kit.ts';
import { variantDigest } from './cache-key.ts';
import type { CacheRules } from './cache-rules.ts';
import { variesBy } from './storable.ts';
import { decodeStoredKeys, encodeStoredKeys, withStoredKey } from './stored-keys.ts';
import { decodeStored, encodeStored, newVariants, type StoredResponse, type Variants } from './stored-response.ts';
import type { Found, Transaction } from './transaction.ts';

/** A result that is available at once if the store does not wait. */
export type Maybe<T> = T | Promise<T>;

export function after<A, B>(value: Maybe<A>, next: (value: A) => Maybe<B>): Maybe<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Seconds that a fetch may take and still be found to be older than an invalidation. */
const LONGEST_FETCH = 3_600;

export class ResponseStore {
  readonly #store: CacheStore;
  readonly #rules: CacheRules;
  /** Seconds for which anything is kept at most. */
  readonly #longest: number;
  readonly #turns = new KeyedMutex();

  constructor(store: CacheStore, rules: CacheRules) {
    this.#store = store;
    this.#rules = rules;
    this.#longest = rules.maxTtl + Math.max(rules.keepStale, MOST_STALE);
  }

  /** Returns null if the store is away. */
  find(transaction: Transaction): Maybe<Found | null> {
    const first = this.#store.get(transaction.key);
    const epoch = this.#rules.invalidate ? this.#store.get(transaction.epochKey) : null;
    if (!(first instanceof Promise) && !(epoch instanceof Promise)) return this.#found(transaction, first, epoch);
    return Promise.all([first, epoch])
      .then(([bytes, now]) => this.#found(transaction, bytes, now))
      .catch(nullWhereAway);
  }

  #found(transaction: Transaction, bytes: Uint8Array | null, epochBytes: Uint8Array | null): Maybe<Found> {
    const epoch = epochBytes === null ? '' : Buffer.from(epochBytes).toString('latin1');
    const stored = decodeStored(bytes);
    if (stored?.kind !== 'variants')
      return { key: transaction.key, stored: unlessOlder(stored, epoch), epoch, varies: false };
    const key = variantKey(transaction, stored);
    return after(this.#store.get(key), (variant) => {
      const response = decodeStored(variant);
      return { key, stored: response?.kind === 'response' ? unlessOlder(response, epoch) : null, epoch, varies: true };
    });
  }

  /** Seconds from its arrival on; 0 or less: it is of no use. */
  keeps({ headers, lifetime, initialAge, whileRevalidating, ifError }: StoredResponse): number {
    const canBeValidated = headerOf(headers, 'etag') !== undefined || headerOf(headers, 'last-modified') !== undefined;
    const stale = Math.min(Math.max(whileRevalidating, ifError), MOST_STALE);
    return lifetime - initialAge + Math.max(stale, canBeValidated ? this.#rules.keepStale : 0);
  }

  /** Rejects with StateUnavailable. */
  put(transaction: Transaction, response: StoredResponse): Promise<void> {
    // In turns: two that read the list at once would each lose the other's entry.
    return this.#turns.run(transaction.urlKey, () => this.#put(transaction, response));
  }

  async #put(transaction: Transaction, response: StoredResponse): Promise<void> {
    const names = variesBy(response.headers);
    let key = transaction.key;
    if (names.length > 0) {
      const variants = await this.#withVariant(transaction, names);
      await this.#store.set(transaction.key, encodeStored(variants), this.#longest, transaction.sharesOf);
      key = variantKey(transaction, variants);
    }
    await this.#store.set(key, encodeStored(response), this.keeps(response), transaction.sharesOf);
    if (transaction.keyHasHeaders || names.length > 0) await this.#list(transaction, key);
  }

  /** Drops entries past the limit: clients choose request headers, and so the number of entries. */
  async #list(transaction: Transaction, key: string): Promise<void> {
    const { key: first, urlKey, client, sharesOf } = transaction;
    const before = decodeStoredKeys(await this.#store.get(urlKey));
    const { list, gone } = withStoredKey(before, { first, key, owner: client }, Math.max(1, this.#rules.maxVariants));
    for (const each of gone) {
      await this.#store.delete(each.key);
      if (!list.some((other) => other.first === each.first)) await this.#store.delete(each.first);
    }
    await this.#store.set(urlKey, encodeStoredKeys(list), this.#longest, sharesOf);
  }

  async #withVariant(transaction: Transaction, names: readonly string[]): Promise<Variants> {
    const before = decodeStored(await this.#store.get(transaction.key));
    const known = before?.kind === 'variants' ? before : null;
    const all = [...new Set([...names, ...(known?.names ?? [])])].sort();
    return known !== null && known.names.length === all.length ? known : newVariants(all);
  }

  /**
   * Invalidates the responses stored for a path and those being fetched. An unavailable store has nothing to
   * invalidate.
   */
  invalidate(key: string, owner: OwnerPath): Maybe<void> {
    // Apart from responses, which are large: a response that loses its mark would be valid again.
    const shares = ['invalidations', ...owner];
    const done = this.#store.set(key, Buffer.from(randomUUID(), 'latin1'), this.#longest + LONGEST_FETCH, shares);
    return done instanceof Promise ? done.catch(nullWhereAway).then(() => {}) : done;
  }
}

/** Seconds after which a stale response no longer stands in. */
const MOST_STALE = 86_400;

function unlessOlder(stored: StoredResponse | null, epoch: string): StoredResponse | null {
  return stored?.epoch === epoch ? stored : null;
}

function variantKey(transaction: Transaction, { id, names }: Variants): string {
  return `${transaction.key}:${id}:${variantDigest(names, transaction.request)}`;
}

function nullWhereAway(error: unknown): null {
  if (error instanceof StateUnavailable) return null;
  throw error;
}
