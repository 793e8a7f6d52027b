/** Requests of this process that fetch something, so that others who want the same may wait for it. */

import type { OwnerPath } from '../../shares/owner-path.ts';
import { SharedMap } from '../../shares/shared-map.ts';

/** The outcome of a fetch. */
export type Landing =
  /** It is in the store. */
  | 'stored'
  /** Its response is nobody else's, or nothing could be stored. */
  | 'unstorable'
  /** The upstream failed, and what is stale stands in. */
  | 'stale'
  /** Its client left: another one fetches. */
  | 'abandoned';

export interface Flight {
  readonly landed: Promise<Landing>;
  /** Only the first call counts. */
  land(landing: Landing): void;
}

/** For so long nobody waits for what was found to be unstorable, and of so many keys it is known. */
const UNSTORABLE_MS = 10_000;
const MOST_UNSTORABLE = 10_000;

export class Flights {
  readonly #under = new Map<string, Flight>();
  /** When each is forgotten. */
  readonly #unstorable = new SharedMap<number>({ most: MOST_UNSTORABLE });
  readonly #now: () => number;
  #stored = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Number of fetches that stored a response: if it has changed, a response that was missing may be stored now. */
  get stored(): number {
    return this.#stored;
  }

  at(key: string): Flight | undefined {
    return this.#under.get(key);
  }

  /** Reports whether a fetch of this key is worth waiting for. */
  mayStore(key: string): boolean {
    const until = this.#unstorable.get(key);
    if (until === undefined) return true;
    if (until > this.#now()) return false;
    this.#unstorable.delete(key);
    return true;
  }

  /** `owner`: who fetches. */
  begin(key: string, owner: OwnerPath): Flight {
    let resolve: (landing: Landing) => void = () => {};
    let under = true;
    const landed = new Promise<Landing>((done) => {
      resolve = done;
    });
    const flight = {
      landed,
      land: (landing: Landing) => {
        if (!under) return;
        under = false;
        this.#under.delete(key);
        if (landing === 'stored') this.#stored++;
        if (landing === 'unstorable') this.#unstorable.set(key, this.#now() + UNSTORABLE_MS, owner);
        resolve(landing);
      },
    };
    this.#under.set(key, flight);
    return flight;
  }
}

/** What came first: the landing, or null when so many milliseconds have passed. */
export function landingOf(flight: Flight, ms: number): Promise<Landing | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    void flight.landed.then((landing) => {
      clearTimeout(timer);
      resolve(landing);
    });
  });
}
