/** Reservations in the process, bounded in bytes: while a reservation counts, it is never dropped silently. */
import { NOBODY, type OwnerPath } from '../shares/owner-path.ts';
import { SharedMap } from '../shares/shared-map.ts';
import type { RecordRequest, Reservation, ReservationRequest, ReservationStore } from './reservation-store.ts';

export interface MemoryReservationOptions {
  /** Bytes kept at once. Default 48 MiB: some 50,000 reservations. */
  readonly maxBytes?: number;
  /** Milliseconds, never going back. Default: the monotonic clock. */
  readonly now?: () => number;
}

interface Entry {
  readonly token: string;
  readonly mark: string;
  /** Null: not recorded yet; undefined: dropped. */
  readonly value: string | null | undefined;
  readonly until: number;
}

/** Cost of an entry besides its texts, in bytes. */
const ENTRY_BYTES = 256;
/** Characters reserved for a record: most are shorter. */
const VALUE_LETTERS = 256;
/** Bytes of the mark of a dropped reservation. */
const FORGOTTEN_BYTES = 128;

export class MemoryReservationStore implements ReservationStore {
  readonly #now: () => number;
  readonly #entries: SharedMap<Entry>;

  constructor({ maxBytes = 48 << 20, now = () => performance.now() }: MemoryReservationOptions = {}) {
    this.#now = now;
    this.#entries = new SharedMap({
      most: maxBytes,
      mayGo: ({ value, until }) => value !== null || until <= this.#now(),
      isSpent: ({ until }) => until <= this.#now(),
      remains: ({ until }) => (until <= this.#now() ? null : { value: forgotten(until), weight: FORGOTTEN_BYTES }),
    });
  }

  /** Bytes kept at present. */
  get bytes(): number {
    return this.#entries.weight;
  }

  reserve({ key, token, mark, holdSeconds, owner = NOBODY }: ReservationRequest): Reservation {
    const known = this.#entries.get(key);
    const left = known ? known.until - this.#now() : 0;
    if (known === undefined || left <= 0) {
      this.#entries.delete(key);
      const entry: Entry = { token, mark, value: null, until: this.#now() + holdSeconds * 1000 };
      return { state: this.#set(key, entry, owner) ? 'reserved' : 'full' };
    }
    if (known.value === undefined) return { state: 'forgotten' };
    if (known.value === null) return { state: 'held', mark: known.mark, secondsLeft: left / 1000 };
    return { state: 'recorded', mark: known.mark, value: known.value };
  }

  record({ key, token, value, keepSeconds }: RecordRequest): boolean {
    const known = this.#entries.get(key);
    if (known?.token !== token || known.until <= this.#now()) return false;
    const until = this.#now() + keepSeconds * 1000;
    // The reservation keeps its owner. A value too long for the room is lost for repeats, which are refused.
    const isKept = this.#set(key, { token, mark: known.mark, value, until });
    if (!isKept) this.#entries.set(key, forgotten(until), NOBODY, FORGOTTEN_BYTES);
    return true;
  }

  release(key: string, token: string): void {
    const known = this.#entries.get(key);
    if (known?.token === token && known.value === null) this.#entries.delete(key);
  }

  #set(key: string, entry: Entry, owner: OwnerPath = NOBODY): boolean {
    const value = Math.max(VALUE_LETTERS, entry.value?.length ?? 0);
    const letters = key.length + entry.token.length + entry.mark.length + value;
    return this.#entries.set(key, entry, owner, letters * 2 + ENTRY_BYTES);
  }
}

function forgotten(until: number): Entry {
  return { token: '', mark: '', value: undefined, until };
}
