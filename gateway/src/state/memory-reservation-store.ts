/** Reservations in the process: bounded in bytes, the oldest are forgotten first. */
import { BoundedMap } from '../bounded-map.ts';
import type { RecordRequest, Reservation, ReservationRequest, ReservationStore } from './reservation-store.ts';

export interface MemoryReservationOptions {
  /** Bytes kept at once. Default 32 MiB: some 50,000 reservations. */
  readonly maxBytes?: number;
  /** Milliseconds, never going back. Default: the monotonic clock. */
  readonly now?: () => number;
}

interface Entry {
  readonly token: string;
  readonly mark: string;
  /** Null: nothing is recorded yet. */
  readonly value: string | null;
  readonly until: number;
}

/** What an entry costs beside its texts. */
const ENTRY_BYTES = 256;

export class MemoryReservationStore implements ReservationStore {
  readonly #now: () => number;
  readonly #entries: BoundedMap<Entry>;

  constructor({ maxBytes = 32 << 20, now = () => performance.now() }: MemoryReservationOptions = {}) {
    this.#now = now;
    this.#entries = new BoundedMap(maxBytes);
  }

  /** Bytes kept at present. */
  get bytes(): number {
    return this.#entries.weight;
  }

  reserve({ key, token, mark, holdSeconds }: ReservationRequest): Reservation {
    const known = this.#entries.get(key);
    const left = known ? known.until - this.#now() : 0;
    if (known === undefined || left <= 0) {
      this.#set(key, { token, mark, value: null, until: this.#now() + holdSeconds * 1000 });
      return { state: 'reserved' };
    }
    if (known.value === null) return { state: 'held', mark: known.mark, secondsLeft: left / 1000 };
    return { state: 'recorded', mark: known.mark, value: known.value };
  }

  record({ key, token, value, keepSeconds }: RecordRequest): boolean {
    const known = this.#entries.get(key);
    if (known?.token !== token || known.until <= this.#now()) return false;
    this.#set(key, { token, mark: known.mark, value, until: this.#now() + keepSeconds * 1000 });
    return true;
  }

  release(key: string, token: string): void {
    const known = this.#entries.get(key);
    if (known?.token === token && known.value === null) this.#entries.delete(key);
  }

  #set(key: string, entry: Entry): void {
    const letters = key.length + entry.token.length + entry.mark.length + (entry.value?.length ?? 0);
    this.#entries.set(key, entry, letters * 2 + ENTRY_BYTES);
  }
}
