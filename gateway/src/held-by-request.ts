/** What an open request holds in memory: it gives way to other clients only (docs/decisions.md#bodies-in-memory). */
import type { BufferBudget, Evictable, Holding } from './buffer-budget.ts';
import type { Exchange } from './exchange.ts';

/** What is held for the request from now on. `x`: null if it is for none. */
export function holdFor(budget: BufferBudget, x: Exchange | null): Holding {
  const held = budget.hold(x?.clientIp ?? '');
  if (x !== null) held.evictable = new HeldByRequest(x);
  return held;
}

/** Above any rate of a body that arrives, so that these end first. */
const ABOVE_ARRIVING = 1e15;

class HeldByRequest implements Evictable {
  readonly onlyForOthers = true;
  readonly #x: Exchange;

  constructor(x: Exchange) {
    this.#x = x;
  }

  /** The oldest request ends first. */
  rate(now: number): number {
    return ABOVE_ARRIVING / Math.max(1, now - this.#x.startedAt);
  }

  evict(): void {
    const { responder } = this.#x;
    if (this.#x.closed) return;
    if (responder.giveWay) responder.giveWay(this.#x);
    else responder.abort();
  }
}
