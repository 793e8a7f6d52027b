/**
 * State that requests share: within a process, between workers, or between pods
 * (docs/decisions.md#counted-over-workers). One port, three stores.
 */
import type { StateFigures } from '../telemetry/figures.ts';
import type { BudgetStore } from './budget-store.ts';
import type { CacheStore } from './cache-store.ts';
import type { NonceStore } from './nonce-store.ts';
import type { RateLimitStore } from './rate-limit-store.ts';
import type { ReservationStore } from './reservation-store.ts';
import type { SessionStore } from './session-store.ts';

export interface State {
  readonly rateLimits: RateLimitStore;
  /** Counts for this process alone, while `rateLimits` is away; undefined: that is never away. */
  readonly localRateLimits?: RateLimitStore;
  readonly cache: CacheStore;
  readonly nonces: NonceStore;
  readonly reservations: ReservationStore;
  readonly budgets: BudgetStore;
  readonly sessions: SessionStore;
  /** Figures of a server; undefined if the state is in this process or its parent. */
  readonly figures?: StateFigures;
  close(): Promise<void>;
}

/** The store is unavailable, or does not answer in time. The caller decides how to answer the request. */
export class StateUnavailable extends Error {}
