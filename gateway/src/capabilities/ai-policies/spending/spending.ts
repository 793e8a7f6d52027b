/**
 * What requests may spend: reserved before a provider is asked, settled when the request has ended, whatever has ended it
 * (docs/decisions.md#ai-budgets). A process that is killed settles nothing: its leases run out.
 */
import { randomUUID } from 'node:crypto';
import { RequestSlot } from '../../../capability/request-slot.ts';
import type { Exchange, RequestPart } from '../../../exchange.ts';
import type { BudgetReservation, BudgetResult, BudgetStore } from '../../../state/budget-store.ts';
import { StateUnavailable } from '../../../state/state.ts';
import { type SpentTokens, spentTokens } from '../../ai/spent-tokens.ts';

/** Seconds after which a process that has not renewed a lease counts as gone. */
const LEASE = 60;
const RENEW_MS = 20_000;
const MOST_UNSETTLED = 10_000;

/** What a reservation is of, and what was spent of it in the end. */
export interface Budgeted {
  readonly bucket: string;
  readonly amount: number;
  readonly quota: number;
  readonly windowSeconds: number;
  spent(tokens: SpentTokens): number;
}

type Reserved = Budgeted & { readonly id: string };

/** What a policy wants to know when a request has ended; null: nobody knows what was spent. */
export type Ending = (tokens: SpentTokens | null, x: Exchange) => void;

const slot = new RequestSlot<Ledger>();

/** What was reserved for one request, by all of its policies. */
class Ledger implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  logged = '';
  readonly #spending: Spending;
  readonly #reserved: Reserved[] = [];
  readonly #endings: Ending[] = [];
  #isDispatched = false;
  #hasEnded = false;

  constructor(spending: Spending) {
    this.#spending = spending;
  }

  add(reserved: Reserved): void {
    // The client has left while the store was asked.
    if (this.#hasEnded) this.#spending.settle(reserved, 0);
    else this.#reserved.push(reserved);
  }

  whenEnded(ending: Ending): void {
    this.#endings.push(ending);
  }

  dispatched(): void {
    this.#isDispatched = true;
  }

  finished({ x }: { readonly x: Exchange }): void {
    this.#hasEnded = true;
    const tokens = this.#isDispatched ? spentTokens(x) : NOTHING;
    for (const each of this.#reserved) this.#spending.settle(each, tokens === null ? each.amount : each.spent(tokens));
    if (this.#isDispatched) for (const ending of this.#endings) ending(tokens, x);
  }
}

const NOTHING: SpentTokens = { provider: '', model: '', prompt: 0, completion: 0, cached: 0 };

/** Of a process. */
export class Spending {
  readonly #store: BudgetStore;
  /** Leases that are renewed, and what is to be settled and could not be. */
  readonly #open = new Map<string, Reserved>();
  readonly #unsettled = new Map<string, { readonly reserved: Reserved; readonly amount: number }>();
  readonly #settling = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(store: BudgetStore) {
    this.#store = store;
  }

  /** Null where the store is away: nothing is reserved then. */
  async reserve(x: Exchange, budgeted: Budgeted): Promise<BudgetResult | null> {
    const ledger = this.#ledgerOf(x);
    const reserved: Reserved = { ...budgeted, id: randomUUID(), spent: (tokens) => budgeted.spent(tokens) };
    const { bucket, id, amount, quota, windowSeconds } = reserved;
    const reservation: BudgetReservation = { bucket, id, amount, quota, windowSeconds, leaseSeconds: LEASE };
    try {
      const result = await this.#store.reserve(reservation);
      if (!result.allowed) return result;
      this.#open.set(id, reserved);
      ledger.add(reserved);
      return result;
    } catch (error) {
      if (!(error instanceof StateUnavailable)) throw error;
      // It may have been reserved all the same, its answer lost.
      this.#settleLater(reserved, 0);
      return null;
    } finally {
      this.#timer ??= setInterval(() => this.#tick(), RENEW_MS).unref();
    }
  }

  /** What the request turns out to have spent is counted, whatever is left. Null where the store is away. */
  charge(x: Exchange, spent: Omit<Budgeted, 'amount' | 'quota'>): Promise<BudgetResult | null> {
    return this.reserve(x, {
      ...spent,
      amount: 0,
      quota: Number.MAX_SAFE_INTEGER,
      spent: (tokens) => spent.spent(tokens),
    });
  }

  /** Calls back when the request has ended, if it was dispatched. */
  whenEnded(x: Exchange, ending: Ending): void {
    this.#ledgerOf(x).whenEnded(ending);
  }

  /** Members for the line of the request in the access log, each with a comma before it. */
  note(x: Exchange, members: string): void {
    this.#ledgerOf(x).logged += members;
  }

  /** For `Ledger`. */
  settle(reserved: Reserved, amount: number): void {
    this.#open.delete(reserved.id);
    const settling = this.#settled(reserved, amount).finally(() => this.#settling.delete(settling));
    this.#settling.add(settling);
  }

  /** Settles what is left. */
  async drain(withinMs: number): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    const late = new Promise((resolve) => setTimeout(resolve, withinMs).unref());
    await Promise.race([Promise.all(this.#settling), late]);
  }

  /** Where the store is away it is tried again. */
  async #settled(reserved: Reserved, amount: number): Promise<void> {
    const { bucket, id, windowSeconds } = reserved;
    try {
      await this.#store.settle({ bucket, id, amount, windowSeconds });
    } catch {
      this.#settleLater(reserved, amount);
    }
  }

  /** Past so many, leases run out. */
  #settleLater(reserved: Reserved, amount: number): void {
    if (this.#unsettled.size < MOST_UNSETTLED) this.#unsettled.set(reserved.id, { reserved, amount });
  }

  #tick(): void {
    for (const each of this.#open.values()) void this.#renewed(each);
    const unsettled = [...this.#unsettled.values()];
    this.#unsettled.clear();
    for (const { reserved, amount } of unsettled) this.settle(reserved, amount);
  }

  async #renewed({ id, bucket, windowSeconds }: Reserved): Promise<void> {
    try {
      await this.#store.renew({ id, bucket, windowSeconds, leaseSeconds: LEASE });
    } catch {
      // The next tick comes before the lease is up.
    }
  }

  #ledgerOf(x: Exchange): Ledger {
    const ledger = slot.of(x) ?? new Ledger(this);
    slot.set(x, ledger);
    return ledger;
  }
}
