/**
 * Bytes that the process holds in memory for clients. When memory runs out, the address that holds most must yield: its
 * slowest item ends, and not the new one (docs/decisions.md#bodies-in-memory).
 */
import { clientNetwork, siteOf } from '../client-network.ts';
import { ChurningMap } from './churning-map.ts';
import { NO_SLOT, Slots } from './slots.ts';

/** Something held that may be ended early: because its client is slow, or because it is large. */
export interface Evictable {
  /** Bytes a millisecond, lately; or any lower number for something that is to end sooner. */
  rate(now: number): number;
  /** The item yields to clients that hold less, and not to its own client's. Default false. */
  readonly onlyForOthers?: boolean;
  /** Ends it. Releases its bytes, at once or soon. */
  evict(): void;
}

interface Client {
  readonly key: string;
  readonly site: Site;
  bytes: number;
  readonly holdings: Slots<Holding>;
  /** Its slot in its site. */
  slot: number;
}

/** Clients that count as one against others: networks of one IPv6 site. */
interface Site {
  readonly key: string;
  bytes: number;
  readonly clients: Slots<Client>;
}

export class BufferBudget {
  readonly #most: number;
  readonly #clients = new ChurningMap<string, Client>();
  readonly #sites = new ChurningMap<string, Site>();
  #used = 0;

  /** Bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that are held. */
  get used(): number {
    return this.#used;
  }

  /** Begins an empty holding. `address`: of the client that it counts for. */
  hold(address: string): Holding {
    const key = clientNetwork(address);
    const client = this.#clients.get(key) ?? this.#newClient(key);
    return new Holding(this, client);
  }

  #newClient(key: string): Client {
    const name = siteOf(key);
    const site = this.#sites.get(name) ?? { key: name, bytes: 0, clients: new Slots<Client>() };
    const client: Client = { key, site, bytes: 0, holdings: new Slots<Holding>(), slot: NO_SLOT };
    client.slot = site.clients.add(client);
    this.#sites.set(name, site);
    this.#clients.set(key, client);
    return client;
  }

  /** For `Holding`. */
  take(holding: Holding, client: Client, bytes: number): boolean {
    while (this.#used + bytes > this.#most) {
      const slowest = this.#slowestOfMost(holding, client, bytes);
      if (slowest === null) return false;
      slowest.giveWay();
    }
    this.#used += bytes;
    client.bytes += bytes;
    client.site.bytes += bytes;
    return true;
  }

  /** For `Holding`. */
  give(holding: Holding, client: Client, bytes: number): void {
    const { site } = client;
    this.#used -= bytes;
    client.bytes -= bytes;
    site.bytes -= bytes;
    client.holdings.remove(holding.slot, holding);
    if (client.holdings.size > 0) return;
    this.#clients.delete(client.key);
    site.clients.remove(client.slot, client);
    if (site.clients.size === 0) this.#sites.delete(site.key);
  }

  /** Returns null if no client with as much as the one that wants more has something to give up. */
  #slowestOfMost(wanting: Holding, client: Client, bytes: number): Holding | null {
    const now = performance.now();
    let most = client.site.bytes + bytes;
    let found = slowestWithin(client.site.clients, wanting, now, { client, bytes });
    for (const [, site] of this.#sites) {
      if (site === client.site || site.bytes < most) continue;
      const slowest = slowestWithin(site.clients, wanting, now, null);
      if (slowest === null) continue;
      most = site.bytes;
      found = slowest;
    }
    return found;
  }
}

/**
 * Returns the slowest item of the client that holds most in a site; `own`: of one that holds as much as this client
 * would, or of its own.
 */
function slowestWithin(
  clients: Iterable<Client>,
  wanting: Holding,
  now: number,
  own: { readonly client: Client; readonly bytes: number } | null,
): Holding | null {
  let most = own === null ? 0 : own.client.bytes + own.bytes;
  let found = own === null || own.client.bytes === 0 ? null : slowestOf(own.client, wanting, now, true);
  for (const other of clients) {
    if (other === own?.client || other.bytes < most) continue;
    const slowest = slowestOf(other, wanting, now, false);
    if (slowest === null) continue;
    most = other.bytes;
    found = slowest;
  }
  return found;
}

function slowestOf({ holdings }: Client, wanting: Holding, now: number, isOwn: boolean): Holding | null {
  let found: Holding | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const each of holdings) {
    if (each === wanting || each.bytes === 0 || (isOwn && each.evictable?.onlyForOthers)) continue;
    const rate = each.evictable?.rate(now) ?? Number.POSITIVE_INFINITY;
    if (rate >= least) continue;
    least = rate;
    found = each;
  }
  return found;
}

/** Bytes held for one request. */
export class Holding {
  readonly #budget: BufferBudget;
  readonly #client: Client;
  /** Its slot among those of its client. */
  readonly slot: number;
  #released = false;
  bytes = 0;
  /** Null: it is not the client that delays its end. */
  evictable: Evictable | null = null;

  constructor(budget: BufferBudget, client: Client) {
    this.#budget = budget;
    this.#client = client;
    this.slot = client.holdings.add(this);
  }

  /** Returns false if there is no room. */
  take(bytes: number): boolean {
    if (this.#released || !this.#budget.take(this, this.#client, bytes)) return false;
    this.bytes += bytes;
    return true;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#budget.give(this, this.#client, this.bytes);
  }

  /** Ends the holding, for others. */
  giveWay(): void {
    this.release();
    this.evictable?.evict();
  }
}
