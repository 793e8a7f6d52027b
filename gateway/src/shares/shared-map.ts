/** Values by key, up to a limit. When room runs out, the owner that holds most loses its oldest. */
import { Chain, type Link } from './chain.ts';
import type { OwnerPath } from './owner-path.ts';
import { type Entry, ShareTree } from './share-tree.ts';

interface Kept<V> extends Link<Kept<V>> {
  readonly key: string;
  readonly value: V;
}

export interface SharedMapOptions<V> {
  /** Most weight of all values together. */
  readonly most: number;
  /**
   * Returns a lighter value in place of one that has to go for another owner; null: it is dropped. `alone`: its owner
   * holds nothing else. Default: it is dropped.
   */
  readonly remains?: (value: V, alone: boolean) => { readonly value: V; readonly weight: number } | null;
  /** Reports whether a value may be forgotten for another one of its own owner. Default: always. */
  readonly isSpent?: (value: V) => boolean;
  /** Reports whether it may go at all. Default: always. */
  readonly mayGo?: (value: V) => boolean;
  /** Called with evicted values, or their remains, but not with deleted ones. */
  readonly gone?: (key: string, value: V) => void;
}

/** Entries that may not go are passed over so many times. */
const MOST_PASSED = 100;

export class SharedMap<V> {
  readonly #options: SharedMapOptions<V>;
  readonly #entries = new Map<string, Entry<Kept<V>>>();
  /** Set or used longest ago first. */
  readonly #order = new Chain<Kept<V>>();
  readonly #shares = new ShareTree<Kept<V>>();

  constructor(options: SharedMapOptions<V>) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#shares.weight;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value.value;
  }

  /** Like `get`, and keeps the entry longer than those unused since. */
  use(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#order.touch(entry.value);
    this.#shares.touch(entry);
    return entry.value.value;
  }

  /**
   * An existing value keeps its owner. Returns false if `owner` holds more than its share, and has no value that may be
   * dropped for the new one: then the map is unchanged.
   */
  set(key: string, value: V, owner: OwnerPath, weight = 1): boolean {
    const known = this.#entries.get(key);
    const before = known?.weight ?? 0;
    if (weight > this.#options.most || !this.#makeRoom(owner, weight - before, known)) return false;
    const kept = keptOf(key, value);
    if (known) this.#order.unlink(known.value);
    this.#order.append(kept);
    this.#entries.set(key, known ? this.#shares.replace(known, kept, weight) : this.#shares.add(owner, kept, weight));
    return true;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#order.unlink(entry.value);
    this.#shares.remove(entry);
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }

  /** The entry that was set or used longest ago; null if the map is empty. */
  get oldest(): { readonly key: string; readonly value: V } | null {
    return this.#order.oldest;
  }

  /** Set or used longest ago first. */
  *[Symbol.iterator](): Generator<readonly [key: string, value: V]> {
    for (let kept = this.#order.oldest; kept !== null; ) {
      // The yielded value may be deleted meanwhile.
      const { newer }: Kept<V> = kept;
      yield [kept.key, kept.value];
      kept = newer;
    }
  }

  #makeRoom(owner: OwnerPath, weight: number, known: Entry<Kept<V>> | undefined): boolean {
    const { most, mayGo, isSpent } = this.#options;
    let passed = 0;
    while (this.#shares.weight + weight > most) {
      const other = this.#shares.yielding(owner, weight, { ties: true });
      const entry = other ?? this.#shares.oldestOf(owner);
      if (entry === null) return false;
      const { value } = entry.value;
      const isOwn = other === null;
      if (entry === known || (mayGo && !mayGo(value))) {
        if (passed++ === MOST_PASSED || entry.newer === null) return false;
        this.#shares.touch(entry);
      } else if (isOwn && isSpent && !isSpent(value)) return false;
      else this.#drop(entry, isOwn);
    }
    return true;
  }

  #drop(entry: Entry<Kept<V>>, isSpent: boolean): void {
    const { key, value } = entry.value;
    const left = isSpent ? null : (this.#options.remains?.(value, entry.owner.weight === entry.weight) ?? null);
    if (left === null || left.weight >= entry.weight) this.delete(key);
    else {
      const kept = keptOf(key, left.value);
      this.#order.unlink(entry.value);
      this.#order.append(kept);
      this.#entries.set(key, this.#shares.replace(entry, kept, left.weight));
    }
    this.#options.gone?.(key, value);
  }
}

function keptOf<V>(key: string, value: V): Kept<V> {
  return { key, value, older: null, newer: null };
}
