/** State of one process. */
import { MemoryBudgetStore } from './memory-budget-store.ts';
import { MemoryCacheStore } from './memory-cache-store.ts';
import { MemoryNonceStore } from './memory-nonce-store.ts';
import { MemoryRateLimitStore } from './memory-rate-limit-store.ts';
import { MemoryReservationStore } from './memory-reservation-store.ts';
import { MemorySessionStore } from './memory-session-store.ts';
import type { State } from './state.ts';

export class MemoryState implements State {
  readonly rateLimits: MemoryRateLimitStore;
  readonly cache: MemoryCacheStore;
  readonly nonces: MemoryNonceStore;
  readonly reservations: MemoryReservationStore;
  readonly budgets: MemoryBudgetStore;
  readonly sessions: MemorySessionStore;

  /** `now`: milliseconds since the epoch, for all. Default: the system's. */
  constructor(options: { readonly now?: () => number } = {}) {
    this.rateLimits = new MemoryRateLimitStore(options);
    this.cache = new MemoryCacheStore(options);
    this.nonces = new MemoryNonceStore(options);
    this.reservations = new MemoryReservationStore(options);
    this.budgets = new MemoryBudgetStore(options);
    this.sessions = new MemorySessionStore(options);
  }

  async close(): Promise<void> {}
}
