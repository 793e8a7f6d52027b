/** Fetches of this process, so that other requests for the same response may wait for them. */

import { type OwnerPath, SharedMap } from '../../kit.ts';

/** The outcome of a fetch. */
export type Landing =
  /** The response is in the store. */
  | 'stored'
  /** Its response is for its client alone, or could not be stored. */
  | 'unstorable'
  /** The upstream failed, and a stale response stands in. */
  | 'stale'
  /** Its client left, or has no room for it: another one fetches. */
  | 'abandoned';

export interface Flight {
  readonly landed: Promise<Landing>;
  /** Only the first call counts. */
  land(landing: Landing): void;
}

/**
 * Milliseconds for which requests do not wait for a response found unstorable, and the most keys remembered for that.
 */
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

  /** `owner`: the fetching client. */
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

/** Resolves with the landing, or with null if it does not come within so many milliseconds. */
export function landingOf(flight: Flight, ms: number): Promise<Landing | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    void flight.landed.then((landing) => {
      clearTimeout(timer);
      resolve(landing);
    });
  });
}
