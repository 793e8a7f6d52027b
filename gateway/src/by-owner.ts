/**
 * What many hold, or wait for, by whom it counts for: a client's network, a project. Where there is too much, who has
 * most yields; where it is given out, they take turns.
 */

interface Held {
  readonly owner: string;
}

export class ByOwner<T extends Held> {
  /** Who came first is first, and so is what each holds. */
  readonly #owners = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: T): void {
    const held = this.#owners.get(item.owner);
    if (held?.has(item)) return;
    if (held) held.add(item);
    else this.#owners.set(item.owner, new Set([item]));
    this.#size++;
  }

  /** Whether it was there. */
  delete(item: T): boolean {
    const held = this.#owners.get(item.owner);
    if (!held?.delete(item)) return false;
    if (held.size === 0) this.#owners.delete(item.owner);
    this.#size--;
    return true;
  }

  /** The oldest of who holds most, taken out; undefined where nothing is held. */
  takeOldestOfBusiest(): T | undefined {
    return this.#taken(this.#busiest());
  }

  /** As `takeOldestOfBusiest`, of what was added last. */
  takeLatestOfBusiest(): T | undefined {
    const latest = [...(this.#busiest() ?? [])].at(-1);
    if (latest) this.delete(latest);
    return latest;
  }

  /** The oldest of whose turn it is, of those that `may`, taken out; then it is the next one's turn. */
  takeInTurn(may: (owner: string) => boolean = () => true): T | undefined {
    for (const [owner, held] of this.#owners) {
      if (!may(owner)) continue;
      const taken = this.#taken(held);
      if (this.#owners.delete(owner) && held.size > 0) this.#owners.set(owner, held);
      return taken;
    }
    return undefined;
  }

  #busiest(): Set<T> | undefined {
    let busiest: Set<T> | undefined;
    for (const held of this.#owners.values()) if (held.size > (busiest?.size ?? 0)) busiest = held;
    return busiest;
  }

  #taken(held: Set<T> | undefined): T | undefined {
    for (const oldest of held ?? []) {
      this.delete(oldest);
      return oldest;
    }
    return undefined;
  }
}
