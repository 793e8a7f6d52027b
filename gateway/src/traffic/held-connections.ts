/** The connections that one worker has places for, by owner: its parent releases them if it dies. */
import { siteOf } from '../client-network.ts';
import { Counts } from '../memory/churning-map.ts';

export class HeldConnections {
  readonly #owners = new Counts<string | null>();
  readonly #sites = new Counts<string>();
  /** The worker has died. */
  ended = false;

  add(owner: string | null): void {
    this.#count(owner, 1);
  }

  /** Reports whether it was there. */
  delete(owner: string | null): boolean {
    if (!this.#owners.has(owner)) return false;
    this.#count(owner, -1);
    return true;
  }

  has(site: string): boolean {
    return this.#sites.has(site);
  }

  /** An owner for each connection. */
  end(): (string | null)[] {
    this.ended = true;
    return [...this.#owners].flatMap(([owner, count]) => Array<string | null>(count).fill(owner));
  }

  #count(owner: string | null, change: 1 | -1): void {
    this.#owners.add(owner, change);
    if (owner !== null) this.#sites.add(siteOf(owner), change);
  }
}
