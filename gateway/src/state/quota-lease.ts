/** Messages about leases of quota between a worker and its parent (docs/decisions.md#quota-leases). */
import type { OwnerPath } from '../shares/owner-path.ts';
import { EXACT_QUOTA, type RateLimitResult } from './rate-limit-store.ts';

/** Milliseconds for which a worker may take from a lease. */
export const LEASE_MS = 1_000;

/** A lease is at most this part of each worker's part of a quota. */
export const BLOCKS_PER_WORKER = 64;
/** Permits of the largest lease below which leases save too few messages. */
const LEAST_BLOCK = 8;

/** Reports whether parts of a quota are leased to so many workers. Smaller quotas are counted request by request. */
export function leasesQuota(quota: number, workers: number): boolean {
  return quota > EXACT_QUOTA && quota >= LEAST_BLOCK * BLOCKS_PER_WORKER * workers;
}

/** A worker ends a lease. */
export interface LeaseSettlement {
  readonly id: number;
  /** Milliseconds before this message, of the first and the last of some uses, and how many they are. */
  readonly used: readonly (readonly [first: number, last: number, count: number])[];
}

export interface QuotaRequest {
  readonly bucket: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly owner: OwnerPath;
  /** Requests that wait for an answer. Default 1. */
  readonly count?: number;
  /** Permits that the worker expects to use soon, besides those. Default 0. */
  readonly expected?: number;
  /** Leases that end. Default: none. */
  readonly settled?: readonly LeaseSettlement[];
}

/** The result of the last request that was decided: the first refused one, if any was. */
export interface QuotaAnswer extends RateLimitResult {
  /** Requests that are allowed; the others are refused. Default: 1 if `allowed`, else 0. */
  readonly granted?: number;
  readonly lease?: { readonly id: number; readonly permits: number };
  /** Milliseconds for which no request of this bucket can be allowed. */
  readonly refusedMs?: number;
}

export function grantedOf({ granted, allowed }: QuotaAnswer): number {
  return granted ?? (allowed ? 1 : 0);
}

/** Calls of a parent to a worker about shared state. */
export interface LeaseHolder {
  /** Ends a lease; null if the worker has ended it already. */
  recallLease(id: number): LeaseSettlement | null | Promise<LeaseSettlement | null>;
}
