/** Budgets in the process: exact, and bounded in memory. */
import { NOBODY } from '../shares/owner-path.ts';
import { SharedMap } from '../shares/shared-map.ts';
import {
  type BudgetRenewal,
  type BudgetReservation,
  type BudgetResult,
  type BudgetSettlement,
  type BudgetStore,
  GRAINS,
  RETRY_RESERVED,
} from './budget-store.ts';

export interface MemoryBudgetOptions {
  /**
   * Most buckets. Past it the oldest of the owner that has most is closed until its window has passed, except those
   * with reservations; that owner gets no further one (`allowed` is false). Default 100,000.
   */
  readonly maxBuckets?: number;
  /** Milliseconds since the epoch, never going back. Default: the system's, on the monotonic clock. */
  readonly now?: () => number;
}

/** Weights of a bucket, and of a closed one. */
const OPEN = 4;
const CLOSED = 1;

const systemClock = () => performance.timeOrigin + performance.now();

export class MemoryBudgetStore implements BudgetStore {
  readonly #now: () => number;
  readonly #budgets: SharedMap<Budget>;

  constructor({ maxBuckets = 100_000, now = systemClock }: MemoryBudgetOptions = {}) {
    this.#now = now;
    this.#budgets = new SharedMap({
      most: maxBuckets * OPEN,
      mayGo: (budget) => !budget.isReserved,
      isSpent: (budget) => budget.emptyAt <= this.#now(),
      remains: (budget, alone) => (alone || !budget.close(this.#now()) ? null : { value: budget, weight: CLOSED }),
    });
  }

  /** Buckets kept at present. */
  get size(): number {
    return this.#budgets.size;
  }

  /** Never waits, so reading a budget and taking from it is one step. */
  reserve(reservation: BudgetReservation): BudgetResult {
    const now = this.#now();
    const { bucket, windowSeconds, owner = NOBODY } = reservation;
    this.#forget(now);
    const known = this.#budgets.use(bucket);
    const budget = known === undefined || known.isOver(now) ? new Budget() : known;
    if (budget !== known && !this.#budgets.set(bucket, budget, owner, OPEN)) {
      return { allowed: false, remaining: 0, resetAt: now / 1000 + windowSeconds, retryAfter: RETRY_RESERVED };
    }
    budget.advance(now, windowSeconds);
    return budget.reserve(reservation, now);
  }

  settle({ bucket, id, amount, windowSeconds }: BudgetSettlement): boolean {
    const now = this.#now();
    const budget = this.#budgets.get(bucket);
    budget?.advance(now, windowSeconds);
    return budget?.settle(id, amount, now) ?? false;
  }

  renew({ bucket, id, windowSeconds, leaseSeconds }: BudgetRenewal): boolean {
    const now = this.#now();
    const budget = this.#budgets.get(bucket);
    budget?.advance(now, windowSeconds);
    return budget?.renew(id, now + leaseSeconds * 1000) ?? false;
  }

  /** Drops expired buckets, two a reservation, so that it keeps up with new ones. */
  #forget(now: number): void {
    let looked = 0;
    for (const [name, budget] of this.#budgets) {
      if (looked++ === 2 || budget.emptyAt > now) return;
      this.#budgets.delete(name);
    }
  }
}

interface Grain {
  /** Milliseconds. */
  readonly at: number;
  amount: number;
}

interface Held {
  readonly amount: number;
  until: number;
}

class Budget {
  /** Oldest first. */
  readonly #grains: Grain[] = [];
  #spent = 0;
  readonly #held = new Map<string, Held>();
  #reserved = 0;
  /** When the first lease may be up. */
  #nextUntil = Number.POSITIVE_INFINITY;
  #lasts = 0;
  #grain = 0;

  /** When a budget that keeps no more than that is over; null: it is open. */
  #closedUntil: number | null = null;

  /**
   * Closes the bucket, which then keeps only its end: until then it allows nothing. Returns false if that has passed.
   */
  close(now: number): boolean {
    this.#closedUntil = this.emptyAt;
    this.#grains.length = 0;
    this.#spent = 0;
    return this.#closedUntil > now;
  }

  /** It was closed, and its window has passed. */
  isOver(now: number): boolean {
    return this.#closedUntil !== null && this.#closedUntil <= now;
  }

  get isReserved(): boolean {
    return this.#held.size > 0;
  }

  /** Time at which the bucket is empty. */
  get emptyAt(): number {
    if (this.#closedUntil !== null) return this.#closedUntil;
    const last = this.#grains.at(-1);
    return this.isReserved ? Number.POSITIVE_INFINITY : last === undefined ? 0 : last.at + this.#lasts;
  }

  /** Drops spending that has left the window, and counts reservations of dead processes as spent. */
  advance(now: number, windowSeconds: number): void {
    this.#grain = (windowSeconds * 1000) / GRAINS;
    this.#lasts = windowSeconds * 1000 + this.#grain;
    if (this.#nextUntil <= now) this.#spendLeft(now);
    const kept = this.#grains.findIndex(({ at }) => at + this.#lasts > now);
    const gone = this.#grains.splice(0, kept < 0 ? this.#grains.length : kept);
    this.#spent -= sum(gone);
  }

  #spendLeft(now: number): void {
    const late = [...this.#held].filter(([, { until }]) => until <= now);
    for (const [id, { amount, until }] of late.sort(([, a], [, b]) => a.until - b.until))
      this.settle(id, amount, until);
    this.#nextUntil = Math.min(...[...this.#held.values()].map(({ until }) => until), Number.POSITIVE_INFINITY);
  }

  reserve({ id, amount, quota, leaseSeconds }: BudgetReservation, now: number): BudgetResult {
    if (this.#closedUntil !== null) {
      const [resetAt, retryAfter] = [this.#closedUntil / 1000, Math.max(0, this.#closedUntil - now) / 1000];
      return { allowed: false, remaining: 0, resetAt, retryAfter };
    }
    const allowed = this.#spent + this.#reserved + amount <= quota;
    if (allowed) {
      const until = now + leaseSeconds * 1000;
      this.#held.set(id, { amount, until });
      this.#reserved += amount;
      this.#nextUntil = Math.min(this.#nextUntil, until);
    }
    const last = this.#grains.at(-1);
    const resetAt = this.isReserved ? now + this.#lasts : last === undefined ? now : last.at + this.#lasts;
    return {
      allowed,
      remaining: Math.max(0, quota - this.#spent - this.#reserved),
      resetAt: resetAt / 1000,
      retryAfter: allowed ? 0 : this.#freedIn(this.#spent + this.#reserved + amount - quota, now) / 1000,
    };
  }

  /** `at`: when it was spent. */
  settle(id: string, amount: number, at: number): boolean {
    const held = this.#held.get(id);
    if (held === undefined) return false;
    this.#held.delete(id);
    this.#reserved -= held.amount;
    this.#spend(amount, at);
    return true;
  }

  renew(id: string, until: number): boolean {
    const held = this.#held.get(id);
    if (held === undefined) return false;
    held.until = until;
    return true;
  }

  #spend(amount: number, at: number): void {
    if (amount === 0) return;
    this.#spent += amount;
    const last = this.#grains.at(-1);
    if (last !== undefined && at - last.at <= this.#grain) last.amount += amount;
    else this.#grains.push({ at, amount });
  }

  /** Milliseconds until so much has left the window. */
  #freedIn(needed: number, now: number): number {
    let freed = 0;
    for (const { at, amount } of this.#grains) {
      freed += amount;
      if (freed >= needed) return Math.max(0, at + this.#lasts - now);
    }
    return RETRY_RESERVED * 1000;
  }
}

function sum(grains: readonly Grain[]): number {
  return grains.reduce((total, { amount }) => total + amount, 0);
}
