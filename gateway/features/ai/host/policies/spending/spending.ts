/**
 * The spending of requests: reserved before a provider is asked, settled when the request ends for any reason
 * (docs/decisions.md#ai-budgets). The reservations of a killed process expire with their leases.
 */

import { randomUUID } from 'node:crypto';
import {
  type BudgetReservation,
  type BudgetResult,
  type BudgetStore,
  type CloseStatus,
  type Exchange,
  type OwnerPath,
  ownerOf,
  type RequestPart,
  RequestSlot,
  SharedMap,
  StateUnavailable,
} from '../../../../kit.ts';
import type { AiRefusal } from '../../proxy/conversation/refusal.ts';
import { RealtimeSession } from '../../proxy/realtime-session.ts';
import { type SpentTokens, spentTokens } from '../../proxy/spent-tokens.ts';
import { budgetCloseStatus } from './budget-close-frame.ts';
import { NANOS } from './prices.ts';

/** Seconds after which a process that has not renewed a lease counts as gone. */
const LEASE = 60;
const RENEW_MS = 20_000;
const MOST_UNSETTLED = 10_000;

/** A reservation, and how its final amount is computed. */
export interface Budgeted {
  /** Name of the policy: its buckets are counted together, and apart from others'. */
  readonly policy: string;
  readonly bucket: string;
  readonly amount: number;
  readonly quota: number;
  readonly windowSeconds: number;
  spent(tokens: SpentTokens): number;
}

type Reserved = Budgeted & { readonly id: string; readonly owner: OwnerPath };

/** A callback for the end of a request; null: the tokens are unknown. */
export type Ending = (tokens: SpentTokens | null, exchange: Exchange) => void;

/** Reserves for the next response of a session; returns null if it fits. */
export type ReserveNext = () => Promise<AiRefusal | null>;

const slot = new RequestSlot<Ledger>();

/** Reservations of all policies for one request. */
class Ledger implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly #spending: Spending;
  /** In billionths of a dollar, by the tracker that counted it. */
  readonly #costs = new Map<object, number>();
  readonly #reserved: Reserved[] = [];
  /** For a session: the reservations of responses under way, except one. */
  readonly #beside: Reserved[][] = [];
  readonly #endings: Ending[] = [];
  /** Functions that reserve anew when a response of a session is over. */
  readonly #reserveNext: ReserveNext[] = [];
  /** Resolves when a realtime session ends; null for plain requests. */
  #ended: PromiseWithResolvers<void> | null = null;
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

  get logged(): string {
    return [...this.#costs.values()].map((nanos) => `,"ai_cost_usd":${nanos / NANOS}`).join('');
  }

  cost(tracker: object, nanos: number): void {
    this.#costs.set(tracker, (this.#costs.get(tracker) ?? 0) + nanos);
  }

  whenEnded(ending: Ending): void {
    this.#endings.push(ending);
  }

  /** For sessions, which reserve for each response. */
  forEachResponse(exchange: Exchange, reserveNext: ReserveNext): void {
    if (this.#ended === null) {
      RealtimeSession.of(exchange).whenResponded({
        another: () => this.#another(),
        over: (tokens) => this.#responded(exchange, tokens),
      });
      this.#ended = Promise.withResolvers();
      this.#spending.await(this.#ended.promise);
    }
    this.#reserveNext.push(reserveNext);
  }

  async #responded(exchange: Exchange, tokens: SpentTokens | null): Promise<CloseStatus | null> {
    const beside = this.#beside.pop();
    this.#settle(beside ?? this.#reserved.splice(0), exchange, tokens);
    // The remaining reservations are for a response under way.
    return beside === undefined ? this.#reserveForNext() : null;
  }

  /** Reserves for a further response: one reservation would otherwise admit any number of them. */
  #another(): Promise<CloseStatus | null> {
    this.#beside.push(this.#reserved.splice(0));
    return this.#reserveForNext();
  }

  async #reserveForNext(): Promise<CloseStatus | null> {
    for (const reserveNext of this.#reserveNext) {
      const refusal = await reserveNext();
      if (refusal !== null) return budgetCloseStatus(refusal);
    }
    return null;
  }

  dispatched(): void {
    this.#isDispatched = true;
  }

  finished({ exchange }: { readonly exchange: Exchange }): void {
    if (this.#ended === null) this.#end(exchange);
    else this.#ended.resolve(RealtimeSession.of(exchange).settled.then(() => this.#end(exchange)));
  }

  #end(exchange: Exchange): void {
    this.#hasEnded = true;
    const left = [...this.#beside.splice(0).flat(), ...this.#reserved.splice(0)];
    this.#settle(left, exchange, this.#isDispatched ? spentTokens(exchange) : NOTHING);
  }

  #settle(reserved: readonly Reserved[], exchange: Exchange, tokens: SpentTokens | null): void {
    for (const each of reserved) {
      this.#spending.settle(each, tokens === null ? each.amount : each.spent(tokens));
    }
    if (this.#isDispatched) for (const ending of this.#endings) ending(tokens, exchange);
  }
}

const NOTHING: SpentTokens = { provider: '', model: '', prompt: 0, completion: 0, cached: 0 };

/** Reservations of a process. */
export class Spending {
  readonly #store: BudgetStore;
  /** Leases that are renewed, and settlements that have failed so far. */
  readonly #open = new Map<string, Reserved>();
  readonly #unsettled = new SharedMap<{ readonly reserved: Reserved; readonly amount: number }>({
    most: MOST_UNSETTLED,
  });
  readonly #settling = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(store: BudgetStore) {
    this.#store = store;
  }

  /** Returns null if the store is unavailable: then nothing is reserved. */
  async reserve(exchange: Exchange, budgeted: Budgeted): Promise<BudgetResult | null> {
    const ledger = this.#ledgerOf(exchange);
    const owner = [budgeted.policy, ...ownerOf(exchange)];
    const reserved: Reserved = { ...budgeted, id: randomUUID(), owner, spent: (tokens) => budgeted.spent(tokens) };
    const { bucket, id, amount, quota, windowSeconds } = reserved;
    const reservation: BudgetReservation = { owner, bucket, id, amount, quota, windowSeconds, leaseSeconds: LEASE };
    try {
      const result = await this.#store.reserve(reservation);
      if (!result.allowed) return result;
      this.#open.set(id, reserved);
      ledger.add(reserved);
      return result;
    } catch (error) {
      if (!(error instanceof StateUnavailable)) throw error;
      // The reservation may have succeeded, with its answer lost.
      this.#settleLater(reserved, 0);
      return null;
    } finally {
      this.#timer ??= setInterval(() => this.#tick(), RENEW_MS).unref();
    }
  }

  /** Counts the request's final spending, even past the quota. Returns null if that fails. */
  async charge(exchange: Exchange, spent: Omit<Budgeted, 'amount' | 'quota'>): Promise<BudgetResult | null> {
    const result = await this.reserve(exchange, {
      ...spent,
      amount: 0,
      quota: Number.MAX_SAFE_INTEGER,
      spent: (tokens) => spent.spent(tokens),
    });
    return result?.allowed ? result : null;
  }

  /** For a session: calls `reserveNext` when a response is over and settled; if it returns a refusal, the session ends. */
  forEachResponse(exchange: Exchange, reserveNext: ReserveNext): void {
    this.#ledgerOf(exchange).forEachResponse(exchange, reserveNext);
  }

  /** Calls back when the request has ended, if it was dispatched; of a session, when each response has, too. */
  whenEnded(exchange: Exchange, ending: Ending): void {
    this.#ledgerOf(exchange).whenEnded(ending);
  }

  /** Adds to the cost of the request by this tracker, in billionths of a dollar: for the access log. */
  note(exchange: Exchange, tracker: object, nanos: number): void {
    this.#ledgerOf(exchange).cost(tracker, nanos);
  }

  /** For `Ledger`. */
  settle(reserved: Reserved, amount: number): void {
    this.#open.delete(reserved.id);
    this.await(this.#settled(reserved, amount));
  }

  /** For `Ledger`: a gateway that stops waits for it. */
  await(settled: Promise<void>): void {
    const settling = settled.finally(() => this.#settling.delete(settling));
    this.#settling.add(settling);
  }

  /** Settles the remaining reservations. */
  async drain(withinMs: number): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    const late = new Promise((resolve) => setTimeout(resolve, withinMs).unref());
    await Promise.race([this.#allSettled(), late]);
  }

  /** Waits in a loop, since the end of a session adds settlements. */
  async #allSettled(): Promise<void> {
    while (this.#settling.size > 0) await Promise.all(this.#settling);
  }

  /** Retries while the store is unavailable. */
  async #settled(reserved: Reserved, amount: number): Promise<void> {
    const { bucket, id, windowSeconds } = reserved;
    try {
      await this.#store.settle({ bucket, id, amount, windowSeconds });
    } catch {
      this.#settleLater(reserved, amount);
    }
  }

  /** Past the limit, leases of the client with most expire. */
  #settleLater(reserved: Reserved, amount: number): void {
    this.#unsettled.set(reserved.id, { reserved, amount }, reserved.owner);
  }

  #tick(): void {
    for (const each of this.#open.values()) void this.#renewed(each);
    const unsettled = [...this.#unsettled].map(([, each]) => each);
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

  #ledgerOf(exchange: Exchange): Ledger {
    const ledger = slot.of(exchange) ?? new Ledger(this);
    slot.set(exchange, ledger);
    return ledger;
  }
}
