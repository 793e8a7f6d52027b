/**
 * Limits the client connections at a time (`GW_MAX_CONNECTIONS`, docs/reference/gateway.md#limits,
 * docs/decisions.md#counted-over-workers), and counts them by owner (docs/decisions.md#connection-shares).
 */
import { siteOf } from '../client-network.ts';
import { ConnectionShares, type Eviction } from './connection-shares.ts';

export interface ConnectionSlots {
  /**
   * `owner`: the network of the client; null: a trusted proxy, which owns no share. True if the connection may stay;
   * one that did not get true is not released.
   */
  take(owner: string | null): boolean | Promise<boolean>;
  release(owner: string | null): void;
}

/** Makes a place: returns the owner of the ended connection, or null if no connection could end. */
export type EndOneOf = (eviction: Eviction) => string | null | Promise<string | null>;

export interface SlotEvents {
  /** One client holds nearly all connections; other clients soon notice. */
  crowded(owner: string, held: number): void;
}

/** Counted in this process. */
export class LocalConnectionSlots implements ConnectionSlots {
  readonly #shares: ConnectionShares;
  readonly #events: SlotEvents;
  /** Ends connections for others; set by the holder of the connections. */
  endOneOf: EndOneOf = () => null;
  /** When the latest connection came, as `performance.now()`. */
  lastAt = Number.NEGATIVE_INFINITY;

  constructor(most: number, events: SlotEvents = { crowded() {} }) {
    this.#shares = new ConnectionShares(most);
    this.#events = events;
  }

  take(owner: string | null): boolean | Promise<boolean> {
    this.lastAt = performance.now();
    const site = owner === null ? null : siteOf(owner);
    const verdict = this.#shares.decide(site);
    if (verdict === 'free') return this.#taken(site);
    if (verdict === 'refused') return false;
    const ended = this.endOneOf(verdict);
    return ended instanceof Promise ? ended.then((by) => this.#replaced(by, site)) : this.#replaced(ended, site);
  }

  /** Reports whether there is a place now; others may have come while one was made. */
  #replaced(ended: string | null, site: string | null): boolean {
    if (ended !== null) this.#shares.remove(siteOf(ended));
    return (ended !== null || this.#shares.decide(site) === 'free') && this.#taken(site);
  }

  #taken(site: string | null): true {
    this.#shares.add(site);
    if (site !== null && this.#shares.crowds(site)) this.#events.crowded(site, this.#shares.heldBy(site));
    return true;
  }

  release(owner: string | null): void {
    this.#shares.remove(owner === null ? null : siteOf(owner));
  }
}
