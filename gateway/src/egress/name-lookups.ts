/**
 * Looks names of hosts up, for everything that connects through the egress guard (docs/decisions.md#name-lookups). The
 * system's resolver blocks a thread for as long as name servers are silent, and cannot be interrupted. So a name is
 * looked up once for all callers, names of one zone leave places to others, and slow names have few.
 */
import { lookup } from 'node:dns/promises';
import { BoundedMap } from '../bounded-map.ts';
import { resolverThreads } from '../process/thread-pool.ts';
import { type Entry, ShareTree } from '../shares/share-tree.ts';
import { zoneOf } from './zone.ts';

/** The look-up of this name did not begin, because of those that others hold or wait for. */
export class LookupsCrowded extends Error {
  readonly code = 'GW_LOOKUPS_CROWDED';
}

export interface NameLookupOptions {
  /** Look-ups at once. */
  readonly places: number;
  /** Returns all addresses of a name. */
  readonly lookup: (name: string) => Promise<readonly string[]>;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
}

/** Milliseconds from which a look-up counts as slow. */
const SLOW_MS = 1000;
/** Milliseconds for which the zone's other names count as suspect. */
const SUSPECT_MS = 60_000;
/** Names that wait for a place. */
const MOST_WAITING = 1000;
const MOST_QUICK = 10_000;
const MOST_SLOW = 1000;

/** Names that were quick the last time. */
const QUICK = 0;
/** Names that were not looked up lately, and quick ones of a zone in which another is slow. */
const UNKNOWN = 1;
/** Names that were slow the last time, and unknown ones of a zone in which another is slow. */
const SLOW = 2;
type Rank = typeof QUICK | typeof UNKNOWN | typeof SLOW;
const RANKS: readonly Rank[] = [QUICK, UNKNOWN, SLOW];
/** Parts of all places that quick names may have; that all others may have; and that slow ones may have of these. */
const [QUICK_PART, OTHERS_PART, SLOW_PART] = [0.7, 0.6, 0.2];

interface Waiter {
  resolve(addresses: readonly string[]): void;
  reject(error: unknown): void;
}

interface Lookup {
  readonly name: string;
  readonly zone: string;
  readonly waiters: Set<Waiter>;
  rank: Rank;
  /** Its place in the queue; null once it has begun. */
  turn: Entry<Lookup> | null;
  beganAt: number;
  /** Ends when it is late. */
  late: NodeJS.Timeout | undefined;
}

export class NameLookups {
  readonly #options: NameLookupOptions;
  readonly #most: { readonly quick: number; readonly others: number; readonly slow: number };
  readonly #byName = new Map<string, Lookup>();
  readonly #running = new Set<Lookup>();
  /** Waiting look-ups by rank, owned by zones. */
  readonly #waiting: readonly ShareTree<Lookup>[] = RANKS.map(() => new ShareTree<Lookup>());
  readonly #quick = new BoundedMap<true>(MOST_QUICK);
  readonly #slow = new BoundedMap<true>(MOST_SLOW);
  /** When a name of the zone was slow last. */
  readonly #slowZones = new BoundedMap<number>(MOST_SLOW);

  constructor(options: NameLookupOptions) {
    this.#options = options;
    const { places } = options;
    this.#most = {
      quick: Math.max(1, Math.floor(places * QUICK_PART)),
      others: Math.ceil(places * OTHERS_PART),
      slow: Math.max(1, Math.floor(places * SLOW_PART)),
    };
  }

  /**
   * Returns all addresses of a name, freshly resolved: results are not cached. Rejects as the resolver does, with
   * LookupsCrowded, and when the signal is aborted; a name without callers is no longer looked up.
   */
  addresses(host: string, signal: AbortSignal): Promise<readonly string[]> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const name = host.toLowerCase();
    const known = this.#byName.get(name);
    if (known !== undefined) return this.#wait(known, signal);
    const zone = zoneOf(name);
    const added: Lookup = { name, zone, waiters: new Set(), rank: QUICK, turn: null, beganAt: 0, late: undefined };
    this.#byName.set(name, added);
    const answer = this.#wait(added, signal);
    this.#enqueue(added);
    return answer;
  }

  #wait(found: Lookup, signal: AbortSignal): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const settle = (then: () => void) => {
        signal.removeEventListener('abort', leave);
        found.waiters.delete(waiter);
        then();
      };
      const leave = () => {
        const waited = found.turn !== null;
        settle(() => reject(waited ? new LookupsCrowded('other names are being looked up') : signal.reason));
        if (waited && found.waiters.size === 0) this.#withdraw(found);
      };
      const waiter: Waiter = {
        resolve: (addresses) => settle(() => resolve(addresses)),
        reject: (error) => settle(() => reject(error)),
      };
      found.waiters.add(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #enqueue(found: Lookup): void {
    found.rank = this.#rankOf(found);
    const waiting = this.#waiting.reduce((sum, { weight }) => sum + weight, 0);
    if (waiting >= MOST_WAITING) {
      const yielding = this.#yieldingTo(found);
      this.#refuse(yielding ?? found);
      if (yielding === null) return;
    }
    this.#await(found);
    this.#beginNext();
  }

  #await(found: Lookup): void {
    found.turn = this.#waiting[found.rank]?.add([found.zone], found) ?? null;
  }

  /** The newest name of the zone that has most waiting, slow ones first; null: that is the zone of this one. */
  #yieldingTo({ rank, zone }: Lookup): Lookup | null {
    for (const each of RANKS.toReversed()) {
      if (each < rank) break;
      const other = this.#waiting[each]?.yielding([zone], 1, { ties: each > rank }) ?? null;
      if (other !== null) return (other.owner.entries.newest ?? other).value;
    }
    return null;
  }

  #refuse(found: Lookup): void {
    this.#withdraw(found);
    for (const waiter of found.waiters) waiter.reject(new LookupsCrowded('too many names wait to be looked up'));
  }

  #withdraw(found: Lookup): void {
    this.#byName.delete(found.name);
    if (found.turn !== null) this.#waiting[found.rank]?.remove(found.turn);
    found.turn = null;
  }

  #begin(found: Lookup): void {
    found.turn = null;
    found.beganAt = this.#options.now();
    this.#running.add(found);
    // Then there are more places for others.
    found.late = setTimeout(() => this.#beginNext(), SLOW_MS).unref();
    this.#options.lookup(found.name).then(
      (addresses) => this.#end(found, (waiter) => waiter.resolve(addresses)),
      (error: unknown) => this.#end(found, (waiter) => waiter.reject(error)),
    );
  }

  #end(found: Lookup, settle: (waiter: Waiter) => void): void {
    const { name, zone, waiters } = found;
    clearTimeout(found.late);
    this.#running.delete(found);
    this.#byName.delete(name);
    if (this.#isLate(found)) {
      this.#quick.delete(name);
      this.#slow.set(name, true);
      this.#slowZones.set(zone, this.#options.now());
    } else {
      this.#slow.delete(name);
      this.#quick.set(name, true);
    }
    for (const waiter of waiters) settle(waiter);
    this.#beginNext();
  }

  #beginNext(): void {
    for (const rank of RANKS) {
      for (;;) {
        const tree = this.#waiting[rank];
        const entry = tree?.inTurn((zone) => this.#mayBegin(rank, zone)) ?? null;
        if (tree === undefined || entry === null) break;
        const found = entry.value;
        tree.remove(entry);
        found.rank = this.#rankOf(found);
        // Names of its zone turned out to be slow while it waited.
        if (found.rank > rank) this.#await(found);
        else this.#begin(found);
      }
    }
  }

  #mayBegin(rank: Rank, zone: string): boolean {
    const free = this.#options.places - this.#running.size;
    if (free <= 0) return false;
    let ofZone = 0;
    const held: [number, number, number] = [0, 0, 0];
    for (const each of this.#running) {
      if (each.zone === zone) ofZone++;
      held[this.#isLate(each) ? SLOW : each.rank]++;
    }
    const [quick, unknown, slow] = held;
    if (rank === QUICK && quick >= this.#most.quick) return false;
    if (rank !== QUICK && unknown + slow >= this.#most.others) return false;
    if (rank === SLOW && slow >= this.#most.slow) return false;
    // As switches share their buffers: each zone may have as many as are left free.
    return rank === SLOW ? ofZone === 0 : ofZone < free;
  }

  #rankOf({ name, zone }: Lookup): Rank {
    if (this.#slow.get(name)) return SLOW;
    const known = this.#quick.use(name) ? QUICK : UNKNOWN;
    if (!this.#isSuspect(zone)) return known;
    return known === QUICK ? UNKNOWN : SLOW;
  }

  #isSuspect(zone: string): boolean {
    const slowAt = this.#slowZones.get(zone);
    if (slowAt !== undefined && this.#options.now() - slowAt < SUSPECT_MS) return true;
    for (const each of this.#running) if (each.zone === zone && this.#isLate(each)) return true;
    return false;
  }

  #isLate({ beganAt }: Lookup): boolean {
    return this.#options.now() - beganAt >= SLOW_MS;
  }
}

/** Threads left to the resolver for names of operators, such as a state server, which are looked up elsewhere. */
const OTHERS = 2;

let ofProcess: NameLookups | null = null;

/** Returns all addresses of a name, by the system's resolver: hosts files, search domains and the like. */
export function systemAddresses(host: string, signal: AbortSignal): Promise<readonly string[]> {
  ofProcess ??= new NameLookups({
    places: Math.max(2, resolverThreads() - OTHERS),
    lookup: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
    now: () => performance.now(),
  });
  return ofProcess.addresses(host, signal);
}
