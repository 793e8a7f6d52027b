/** Entries that have left are kept until they are more than those that stay, and more than these. */
const LEAST_LEFT = 64;

/**
 * A map whose keys come and go with requests or connections (docs/decisions.md#short-lived-members). A Map that deletes
 * them makes a new table every few times, and each old table keeps the next one. This map only marks a key as gone, and
 * now and then begins a new Map with those that are there.
 */
export class ChurningMap<K, V> {
  /** Undefined: the key has left. */
  #values = new Map<K, V | undefined>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    return this.#values.get(key);
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  set(key: K, value: V): void {
    if (!this.has(key)) this.#size++;
    this.#values.set(key, value);
  }

  delete(key: K): void {
    if (!this.has(key)) return;
    this.#size--;
    this.#values.set(key, undefined);
    if (this.#values.size - this.#size > Math.max(LEAST_LEFT, this.#size)) this.#values = new Map(this);
  }

  /** Iterates in no particular order. */
  *[Symbol.iterator](): Generator<[K, V]> {
    for (const [key, value] of this.#values) if (value !== undefined) yield [key, value];
  }
}

/** Counts by key. Keys whose count is zero are left out. */
export class Counts<K> extends ChurningMap<K, number> {
  add(key: K, change: 1 | -1): void {
    const now = (this.get(key) ?? 0) + change;
    if (now === 0) this.delete(key);
    else this.set(key, now);
  }
}
