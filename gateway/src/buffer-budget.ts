/**
 * Bytes that the process holds in memory for clients. Where there is room for no more, the address that holds most gives
 * way: the slowest of what is its own ends, not what comes new (docs/decisions.md#bodies-in-memory).
 */
import { clientNetwork } from './client-network.ts';

/** What is held, and may end before its time because its client is slow. */
export interface Evictable {
  /** Bytes a millisecond, lately. */
  rate(now: number): number;
  /** Ends it. Releases its bytes, at once or soon. */
  evict(): void;
}

interface Client {
  readonly key: string;
  bytes: number;
  readonly holdings: Set<Holding>;
}

export class BufferBudget {
  readonly #most: number;
  readonly #clients = new Map<string, Client>();
  #used = 0;

  /** Bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that are held. */
  get used(): number {
    return this.#used;
  }

  /** Holds nothing yet. `address`: of the client that it is held for. */
  hold(address: string): Holding {
    const key = clientNetwork(address);
    let client = this.#clients.get(key);
    if (client === undefined) {
      client = { key, bytes: 0, holdings: new Set() };
      this.#clients.set(key, client);
    }
    const holding = new Holding(this, client);
    client.holdings.add(holding);
    return holding;
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
    return true;
  }

  /** For `Holding`. */
  give(holding: Holding, client: Client, bytes: number): void {
    this.#used -= bytes;
    client.bytes -= bytes;
    client.holdings.delete(holding);
    if (client.holdings.size === 0) this.#clients.delete(client.key);
  }

  /** Null where nobody who holds as much as whoever wants more has something to give up. */
  #slowestOfMost(wanting: Holding, client: Client, bytes: number): Holding | null {
    const now = performance.now();
    let most = client.bytes + bytes;
    let found = client.bytes === 0 ? null : slowestOf(client, wanting, now);
    for (const other of this.#clients.values()) {
      if (other === client || other.bytes < most) continue;
      const slowest = slowestOf(other, wanting, now);
      if (slowest === null) continue;
      most = other.bytes;
      found = slowest;
    }
    return found;
  }
}

function slowestOf({ holdings }: Client, wanting: Holding, now: number): Holding | null {
  let found: Holding | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const each of holdings) {
    if (each === wanting || each.bytes === 0) continue;
    const rate = each.evictable?.rate(now) ?? Number.POSITIVE_INFINITY;
    if (rate >= least) continue;
    least = rate;
    found = each;
  }
  return found;
}

/** What is held for one request. */
export class Holding {
  readonly #budget: BufferBudget;
  readonly #client: Client;
  #released = false;
  bytes = 0;
  /** Null: it is not the client that delays its end. */
  evictable: Evictable | null = null;

  constructor(budget: BufferBudget, client: Client) {
    this.#budget = budget;
    this.#client = client;
  }

  /** False where there is no room. */
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

  /** Ends what is held, for others. */
  giveWay(): void {
    this.release();
    this.evictable?.evict();
  }
}
