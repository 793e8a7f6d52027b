/** Values by key, of which only so much is kept: past that, those set or used longest ago are dropped. */

interface Entry<V> {
  readonly value: V;
  readonly weight: number;
}

export class BoundedMap<V> {
  readonly #most: number;
  /** Set or used longest ago first. */
  readonly #entries = new Map<string, Entry<V>>();
  #weight = 0;

  /** `most`: of the weights of all values together. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Weight of all entries. */
  get weight(): number {
    return this.#weight;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Like `get`, and keeps the entry longer than those unused since. */
  use(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** `weight`: by default each value counts as one. */
  set(key: string, value: V, weight = 1): void {
    this.delete(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#most) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }
}
