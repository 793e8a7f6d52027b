/**
 * The port for amounts that may be spent in a sliding window, such as tokens or money: reserved before the cost is
 * known, and settled once it is. In the process, shared between workers, or in Redis.
 *
 * A reserved amount counts at once, and a settled one until its window has passed. A process that reserves and dies
 * settles nothing: when its lease expires, the whole reservation counts as spent.
 */

import type { OwnerPath } from '../shares/owner-path.ts';

export interface BudgetReservation {
  /** Owner that a new bucket counts for: the one with most gets no more. Default: nobody. */
  readonly owner?: OwnerPath;
  /** Name, of a length that its caller bounds. */
  readonly bucket: string;
  /** Unique. */
  readonly id: string;
  /** 0 or more, an integer; with `quota` below 2^53. */
  readonly amount: number;
  /** The most that may be reserved and spent in the window together. */
  readonly quota: number;
  readonly windowSeconds: number;
  /** Seconds until the lease is up, unless it is renewed. */
  readonly leaseSeconds: number;
}

export interface BudgetResult {
  readonly allowed: boolean;
  /** Rest of the window's quota. */
  readonly remaining: number;
  /** Unix time in seconds at which the whole quota is available again, without further spending. */
  readonly resetAt: number;
  /** Seconds until as much would be left, if all reservations are spent; 0 if this one was allowed. */
  readonly retryAfter: number;
}

export interface BudgetSettlement {
  readonly bucket: string;
  readonly id: string;
  /** Amount spent: less than was reserved, or more; 0 gives it back. */
  readonly amount: number;
  readonly windowSeconds: number;
}

export interface BudgetRenewal {
  readonly bucket: string;
  readonly id: string;
  readonly windowSeconds: number;
  readonly leaseSeconds: number;
}

/**
 * Times of spending are kept to this part of the window, and count until the latest possible time: so the quota is
 * never exceeded in any window.
 */
export const GRAINS = 1024;
/** Seconds after which to retry if only reservations exhaust the quota. */
export const RETRY_RESERVED = 1;

export interface BudgetStore {
  /**
   * Reserves all or nothing, exactly, for any number of concurrent calls. Rejects with StateUnavailable, as do the
   * others.
   */
  reserve(reservation: BudgetReservation): BudgetResult | Promise<BudgetResult>;
  /** Once: false if the reservation is unknown, or was settled, or its lease was up. */
  settle(settlement: BudgetSettlement): boolean | Promise<boolean>;
  /** Returns false if there is nothing to renew. */
  renew(renewal: BudgetRenewal): boolean | Promise<boolean>;
}
