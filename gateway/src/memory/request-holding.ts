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

/** Holds memory for the request from now on. `request`: null if it is for no request. */
export function holdFor(budget: BufferBudget, request: OpenRequest | null): Holding {
  const held = budget.hold(request?.clientIp ?? '');
  if (request !== null) held.evictable = new HeldByRequest(request);
  return held;
}

/** Above any rate of a body that arrives, so that these end first. */
const ABOVE_ARRIVING = 1e15;

class HeldByRequest implements Evictable {
  readonly onlyForOthers = true;
  readonly #request: OpenRequest;

  constructor(request: OpenRequest) {
    this.#request = request;
  }

  /** The oldest request ends first. */
  rate(now: number): number {
    return ABOVE_ARRIVING / Math.max(1, now - this.#request.startedAt);
  }

  evict(): void {
    this.#request.giveWay();
  }
}
