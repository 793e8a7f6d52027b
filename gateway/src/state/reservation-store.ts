/**
 * The port for actions that may happen once: the caller that reserves a key acts and records the result, and all others
 * get that. In the process, shared between workers, or in Redis.
 */

import type { OwnerPath } from '../shares/owner-path.ts';

export interface ReservationRequest {
  /** Owner that it counts for: when room runs out, the owner with most gets no further one. Default: nobody. */
  readonly owner?: OwnerPath;
  /** Identifies the action; of a length that its caller bounds. */
  readonly key: string;
  /** Identifies the holder of the reservation; unique. */
  readonly token: string;
  /** Digest of the action, which detects other actions under the same key. */
  readonly mark: string;
  /** Seconds after which it ends if nothing is recorded. */
  readonly holdSeconds: number;
}

export type Reservation =
  /** It belongs to the caller. */
  | { readonly state: 'reserved' }
  /** Another caller's, who has recorded nothing yet. */
  | { readonly state: 'held'; readonly mark: string; readonly secondsLeft: number }
  | { readonly state: 'recorded'; readonly mark: string; readonly value: string }
  /** There is no room for it: its owner has more than its share. */
  | { readonly state: 'full' }
  /** It was recorded, and the record was dropped for others: it must not be done again. */
  | { readonly state: 'forgotten' };

export interface RecordRequest {
  readonly key: string;
  readonly token: string;
  readonly value: string;
  /** Seconds for which others get it. */
  readonly keepSeconds: number;
}

export interface ReservationStore {
  /** Rejects with StateUnavailable, as do the others. */
  reserve(request: ReservationRequest): Reservation | Promise<Reservation>;
  /** Returns false if the reservation has ended, and may be another's. */
  record(request: RecordRequest): boolean | Promise<boolean>;
  /** Nothing was done, so another caller may act. */
  release(key: string, token: string): void | Promise<void>;
}
