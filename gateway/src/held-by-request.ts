/** Memory of an open request: it yields to other clients only (docs/decisions.md#bodies-in-memory). */
import type { BufferBudget, Evictable, Holding } from './buffer-budget.ts';

/** The parts of an exchange that concern its memory. */
export interface OpenRequest {
  readonly clientIp: string;
  /** Milliseconds, on the monotonic clock. */
  readonly startedAt: number;
  /** Ends it for others; does nothing if it has ended. */
  giveWay(): void;
}

/** Holds memory for the request from now on. `x`: null if it is for no request. */
export function holdFor(budget: BufferBudget, x: OpenRequest | null): Holding {
  const held = budget.hold(x?.clientIp ?? '');
  if (x !== null) held.evictable = new HeldByRequest(x);
  return held;
}

/** Above any rate of a body that arrives, so that these end first. */
const ABOVE_ARRIVING = 1e15;

class HeldByRequest implements Evictable {
  readonly onlyForOthers = true;
  readonly #x: OpenRequest;

  constructor(x: OpenRequest) {
    this.#x = x;
  }

  /** The oldest request ends first. */
  rate(now: number): number {
    return ABOVE_ARRIVING / Math.max(1, now - this.#x.startedAt);
  }

  evict(): void {
    this.#x.giveWay();
  }
}
