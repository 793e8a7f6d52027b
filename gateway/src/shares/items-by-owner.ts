/**
 * Items that clients hold or wait for, by owner: a client's network, a project. If there are too many, the owner of
 * most yields; if they are given out, owners take turns. Networks of one IPv6 site count together before they count
 * apart.
 */
import { siteOf } from '../client-network.ts';

interface Item {
  readonly owner: string;
}

/** Owners that count as one against others. */
interface Site<T> {
  /** Owners in the order of their arrival, and so the items of each. */
  readonly owners: Map<string, Set<T>>;
  size: number;
}

export class ItemsByOwner<T extends Item> {
  readonly #sites = new Map<string, Site<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Number of owners; owners of one site count as one. */
  get sites(): number {
    return this.#sites.size;
  }

  /** Number of items that the owner's site holds. */
  heldBySiteOf(owner: string): number {
    return this.#sites.get(siteOf(owner))?.size ?? 0;
  }

  add(item: T): void {
    const name = siteOf(item.owner);
    const site = this.#sites.get(name) ?? { owners: new Map<string, Set<T>>(), size: 0 };
    const held = site.owners.get(item.owner);
    if (held?.has(item)) return;
    if (held) held.add(item);
    else site.owners.set(item.owner, new Set([item]));
    this.#sites.set(name, site);
    site.size++;
    this.#size++;
  }

  /** Reports whether it was there. */
  delete(item: T): boolean {
    const name = siteOf(item.owner);
    const site = this.#sites.get(name);
    const held = site?.owners.get(item.owner);
    if (!site || !held?.delete(item)) return false;
    if (held.size === 0) site.owners.delete(item.owner);
    if (--site.size === 0) this.#sites.delete(name);
    this.#size--;
    return true;
  }

  /** Takes out the oldest item of the owner that holds most; returns undefined if there are no items. */
  takeOldestOfBusiest(): T | undefined {
    return this.#taken(this.#busiest());
  }

  /** Like `takeOldestOfBusiest`, for the newest item. */
  takeLatestOfBusiest(): T | undefined {
    const latest = [...(this.#busiest() ?? [])].at(-1);
    if (latest) this.delete(latest);
    return latest;
  }

  /** Takes out the oldest item of the next owner in turn, of those that `may`. */
  takeInTurn(may: (owner: string) => boolean = () => true): T | undefined {
    for (const [name, site] of this.#sites) {
      for (const [owner, held] of site.owners) {
        if (!may(owner)) continue;
        const taken = this.#taken(held);
        if (site.owners.delete(owner) && held.size > 0) site.owners.set(owner, held);
        if (this.#sites.delete(name)) this.#sites.set(name, site);
        return taken;
      }
    }
    return undefined;
  }

  #busiest(): Set<T> | undefined {
    let busiest: Site<T> | undefined;
    for (const site of this.#sites.values()) if (site.size > (busiest?.size ?? 0)) busiest = site;
    let most: Set<T> | undefined;
    for (const held of busiest?.owners.values() ?? []) if (held.size > (most?.size ?? 0)) most = held;
    return most;
  }

  #taken(held: Set<T> | undefined): T | undefined {
    for (const oldest of held ?? []) {
      this.delete(oldest);
      return oldest;
    }
    return undefined;
  }
}
