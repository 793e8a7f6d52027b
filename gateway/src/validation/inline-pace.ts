/** How long validation may take on the event loop before it starts over in a helper process. */
import { MOST_INLINE_UNITS, type TimeLimit } from '../patterns/step-budget.ts';

/** Bytes of the longest body that is read on the event loop: parsing this much may take 5 to 10 ms. */
export const MOST_INLINE_BYTES = 128 << 10;

/** Milliseconds: at first, and after many validations that were given up. */
const MOST_MS = 5;
const LEAST_MS = 0.2;

/**
 * The limit of one operation. Time that is spent before a validation is given up is lost, so the limit is halved each
 * time, and grows with each validation that ends within it.
 */
export class InlinePace {
  limit: TimeLimit = { ms: MOST_MS, piece: MOST_INLINE_UNITS };

  exceeded(): void {
    this.#set(Math.max(LEAST_MS, this.limit.ms / 2));
  }

  completed(): void {
    if (this.limit.ms < MOST_MS) this.#set(Math.min(MOST_MS, this.limit.ms * 1.05));
  }

  #set(ms: number): void {
    this.limit = { ms, piece: MOST_INLINE_UNITS };
  }
}
