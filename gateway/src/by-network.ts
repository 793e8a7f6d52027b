/** What many clients hold for a while, by their network (`clientNetwork`): where there is too much, who holds most yields. */

interface Held {
  readonly network: string;
}

export class ByNetwork<T extends Held> {
  /** Those that came first are first, networks as what each holds. */
  readonly #networks = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: T): void {
    const held = this.#networks.get(item.network);
    if (held?.has(item)) return;
    if (held) held.add(item);
    else this.#networks.set(item.network, new Set([item]));
    this.#size++;
  }

  /** Whether it was there. */
  delete(item: T): boolean {
    const held = this.#networks.get(item.network);
    if (!held?.delete(item)) return false;
    if (held.size === 0) this.#networks.delete(item.network);
    this.#size--;
    return true;
  }

  /** The oldest of the network that holds most, taken out; undefined where nothing is held. */
  takeOldestOfBusiest(): T | undefined {
    let busiest: Set<T> | undefined;
    for (const held of this.#networks.values()) if (held.size > (busiest?.size ?? 0)) busiest = held;
    return this.#taken(busiest);
  }

  /** The oldest of the network whose turn it is, taken out; then it is the next one's turn. */
  takeInTurn(): T | undefined {
    for (const [network, held] of this.#networks) {
      const taken = this.#taken(held);
      if (this.#networks.delete(network) && held.size > 0) this.#networks.set(network, held);
      return taken;
    }
    return undefined;
  }

  #taken(held: Set<T> | undefined): T | undefined {
    for (const oldest of held ?? []) {
      this.delete(oldest);
      return oldest;
    }
    return undefined;
  }
}
