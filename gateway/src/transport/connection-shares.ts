/**
 * Counts connections by owner, and decides which owner gives one up for a newcomer
 * (docs/decisions.md#connection-shares). Every decision takes constant time, since connections come at any rate.
 */
import { Counts } from '../memory/churning-map.ts';

/** The part of all places that is kept for those below their share. */
const RESERVE = 0.05;
/** The part of all places from which a site crowds out others. */
const CROWD = 0.8;

/** Sites that hold most are asked for an idle connection, at most so many of them. */
const MOST_ASKED = 16;

/** One of these sites gives up an idle connection; else, with `busy`, the first of them any. */
export interface Eviction {
  readonly sites: readonly string[];
  readonly busy: boolean;
  /** Also allows a new connection, which may be about to send its first bytes. */
  readonly young: boolean;
}

/** A place is free; or there is no place; or one can be made. */
export type Verdict = 'free' | 'refused' | Eviction;

export class ConnectionShares {
  readonly #most: number;
  readonly #reserve: number;
  readonly #held = new Counts<string>();
  /** Sites by how many connections they hold. */
  readonly #byCount = new Map<number, Set<string>>();
  #highest = 0;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
    this.#reserve = Math.floor(most * RESERVE);
  }

  heldBy(site: string): number {
    return this.#held.get(site) ?? 0;
  }

  /** Null: without an owner. */
  add(site: string | null): void {
    this.#taken++;
    if (site !== null) this.#count(site, 1);
  }

  remove(site: string | null): void {
    this.#taken--;
    if (site !== null) this.#count(site, -1);
  }

  /** Reports whether the site leaves others hardly any place. */
  crowds(site: string): boolean {
    return this.heldBy(site) > CROWD * this.#most;
  }

  decide(site: string | null): Verdict {
    const own = site === null ? 0 : this.heldBy(site);
    const sites = this.#held.size + (own === 0 ? 1 : 0);
    const share = this.#most / sites;
    // An owner above its share leaves the rest to others, even before they come.
    const mayUse = site !== null && own >= this.#most / Math.max(2, sites) ? this.#most - this.#reserve : this.#most;
    if (this.#taken < mayUse) return 'free';
    if (site !== null && own > 0 && own >= this.#highest) return { sites: [site], busy: false, young: false };
    const asked = this.#holdingMost();
    if (asked.length === 0 || own >= this.#highest) return 'refused';
    // A newcomer below its share gets a place of the owner that holds most, even from a busy connection, but never its
    // only one.
    return { sites: asked, young: true, busy: this.#highest > share && this.#highest > own + 1 };
  }

  /** Returns the sites that hold most; each call returns the others first. */
  #holdingMost(): string[] {
    const top = this.#byCount.get(this.#highest) ?? new Set();
    const asked: string[] = [];
    for (const site of top) if (asked.push(site) === MOST_ASKED) break;
    if (top.size > MOST_ASKED) for (const site of asked) if (top.delete(site)) top.add(site);
    return asked;
  }

  #count(site: string, change: 1 | -1): void {
    const before = this.heldBy(site);
    const now = before + change;
    const peers = this.#byCount.get(before);
    peers?.delete(site);
    if (peers?.size === 0) this.#byCount.delete(before);
    this.#held.add(site, change);
    if (now > 0) {
      const sites = this.#byCount.get(now) ?? new Set();
      this.#byCount.set(now, sites.add(site));
    }
    if (now > this.#highest) this.#highest = now;
    else if (before === this.#highest && !this.#byCount.has(before)) this.#highest = now;
  }
}
