/** Costs of requests, by provider, model and consumer; and the budgets that limit them. */

import { type Exchange, get, headerOf, isList, type JsonObject, type Obj } from '../../../../kit.ts';
import { type AiRefusal, refusal } from '../../proxy/conversation/refusal.ts';
import { parsedRequest } from '../../proxy/request/parsed-request.ts';
import type { SpentTokens } from '../../proxy/spent-tokens.ts';
import { TokenEstimate } from '../../proxy/token-estimate.ts';
import type { Decision } from '../decision.ts';
import { type FilesRule, filesRule } from '../files-rule.ts';
import { objectOf, Profiles } from '../profiles.ts';
import { isRealtime } from '../unread-sessions.ts';
import { OTHER } from './consumer-labels.ts';
import { type Partition, partitionOf } from './partition.ts';
import { PERIODS, type PeriodName, periodAt } from './period.ts';
import { costOf, NANOS, Prices } from './prices.ts';
import type { Spending } from './spending.ts';
import { stateUnavailable } from './state-unavailable.ts';

interface MoneyBudget {
  readonly limit: number;
  readonly period: PeriodName;
  readonly partition: Partition;
  readonly partitionKey: string;
}

interface Budgets {
  readonly budgets: readonly MoneyBudget[];
  /** Tokens reserved for a completion whose request names no limit. */
  readonly reserve: number;
}

export interface CostEvents {
  log(message: string, exchange: Exchange): void;
  /** A request, or the next response of a realtime session. */
  countRefusal(): void;
  /** `model`: the entry of the price list. */
  countCost(dollars: number, provider: string, model: string, consumer: string): void;
}

export class CostTracker {
  readonly #prices: Prices;
  /** Null without budgets. */
  readonly #profiles: Profiles<Budgets> | null;
  readonly #policy: string;
  readonly #allowsUnpriced: boolean;
  readonly #allowsUncounted: boolean;
  readonly #spending: Spending;
  readonly #events: CostEvents;
  /** A batch costs its provider's count, once that is known: until then, a new one needs budgets with anything left. */
  readonly files: FilesRule;

  /** Throws if the config cannot be used. */
  constructor(config: JsonObject, spending: Spending, events: CostEvents) {
    this.#prices = new Prices(config);
    this.#profiles =
      config['profiles'] === undefined
        ? null
        : new Profiles(config, budgetsOf, (message, exchange) => events.log(message, exchange));
    this.#policy = String(config['policy_name']);
    this.#allowsUnpriced = config['on_unpriced'] === 'allow';
    this.#allowsUncounted = config['on_state_failure'] === 'allow';
    this.#spending = spending;
    this.#events = events;
    const files = filesRule(config, (exchange, { surface, operation }) => {
      if (surface === 'files') return null;
      return operation === 'create' ? this.#reserved(exchange, () => 1) : this.#charged(exchange);
    });
    this.files = async (exchange, request) => this.#counted(await files(exchange, request));
  }

  /** Returns null if the request fits into all budgets. Throws AiRefusal if the body is malformed. */
  async reserve(exchange: Exchange): Promise<AiRefusal | null> {
    const request = parsedRequest(exchange);
    this.#spending.whenEnded(exchange, (tokens) => this.#count(tokens, exchange));
    const admit = () => this.#admit(exchange, request);
    if (isRealtime(exchange)) this.#spending.forEachResponse(exchange, admit);
    return admit();
  }

  async #admit(exchange: Exchange, request: Obj): Promise<AiRefusal | null> {
    const { prompt, limit } = await TokenEstimate.begin(exchange, request);
    const model = String(get(request, 'model'));
    return this.#counted(
      await this.#reserved(exchange, ({ reserve }) => this.#prices.highest(model, prompt, limit ?? reserve)),
    );
  }

  #counted<D extends Decision>(decision: D): D {
    if (decision !== null) this.#events.countRefusal();
    return decision;
  }

  /** `costs`: the most that the request may; null: that has no price. */
  async #reserved(exchange: Exchange, costs: (settings: Budgets) => number | null): Promise<AiRefusal | null> {
    const profile = this.#profiles?.of(exchange) ?? null;
    if (profile === null || profile.settings.budgets.length === 0) return null;
    const cost = costs(profile.settings);
    if (cost === null && !this.#allowsUnpriced) return unpriced();
    for (const budget of profile.settings.budgets) {
      const refusal = await this.#fits(exchange, budget, profile.name, cost ?? 0);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  async #fits(exchange: Exchange, budget: MoneyBudget, profile: string, cost: number): Promise<AiRefusal | null> {
    const { limit, period } = budget;
    const now = Date.now();
    const result = await this.#spending.reserve(exchange, {
      ...this.#spendingOf(exchange, budget, profile, now),
      // A request that may cost more than the whole budget is admitted if the budget is untouched.
      amount: Math.min(cost, limit),
      quota: limit,
    });
    if (result === null) return this.#allowsUncounted ? null : stateUnavailable();
    if (result.allowed) return null;
    const { end } = periodAt(period, now);
    return exhausted(period, result.retryAfter > 1 ? Math.ceil((end - now) / 1000) : null);
  }

  /** Charges the request even past the budget: it has been spent. */
  async #charged(exchange: Exchange): Promise<AiRefusal | null> {
    this.#spending.whenEnded(exchange, (tokens) => this.#count(tokens, exchange));
    const profile = this.#profiles?.of(exchange) ?? null;
    for (const budget of profile?.settings.budgets ?? []) {
      const result = await this.#spending.charge(
        exchange,
        this.#spendingOf(exchange, budget, profile?.name ?? '', Date.now()),
      );
      if (result === null && !this.#allowsUncounted) return stateUnavailable();
    }
    return null;
  }

  #spendingOf(exchange: Exchange, { period, partition, partitionKey }: MoneyBudget, profile: string, now: number) {
    const { start, end } = periodAt(period, now);
    const whose = partitionKey === '' ? '' : partition(exchange);
    return {
      policy: `money ${this.#policy} ${partitionKey}`,
      bucket: `money|${this.#policy}|${profile}|${period}|${start}|${whose}`,
      // The bucket is not used again after its period.
      windowSeconds: (end - start) / 1000,
      spent: (tokens: SpentTokens) => this.#costOf(tokens),
    };
  }

  #costOf(tokens: SpentTokens): number {
    const price = this.#prices.of(tokens);
    return price === null ? 0 : costOf(price, tokens);
  }

  #count(tokens: SpentTokens | null, exchange: Exchange): void {
    if (tokens === null || tokens.prompt + tokens.completion === 0) return;
    const price = this.#prices.of(tokens);
    const nanos = price === null ? 0 : costOf(price, tokens);
    const consumer = headerOf(exchange.headers, 'x-auth-consumer') ?? '';
    this.#events.countCost(nanos / NANOS, tokens.provider, price?.model ?? OTHER, consumer);
    if (price !== null) this.#spending.note(exchange, this, nanos);
  }
}

/** `seconds`: until the period ends; null: only reservations exhaust it. */
function exhausted(period: PeriodName, seconds: number | null): AiRefusal {
  const why = seconds === null ? 'is reserved by requests under way' : 'is used up';
  const detail = `The budget of this ${period} ${why}; Retry-After says when to try again.`;
  const again = seconds === null ? [] : ['x-should-retry', 'false'];
  const headers = ['retry-after', String(Math.max(1, seconds ?? 1)), ...again];
  return refusal('rate-limited', 'budget_exceeded', detail, { headers });
}

function unpriced(): AiRefusal {
  const detail = 'The model has no price, and this request must stay within a budget.';
  return refusal('forbidden', 'model_not_priced', detail, { param: 'model' });
}

function budgetsOf(settings: JsonObject): Budgets {
  const { budgets } = settings;
  const list = isList(budgets) ? budgets.map(objectOf) : [];
  return {
    reserve: Number(settings['reserve']),
    budgets: list.map((each) => ({
      limit: Math.round(Number(each['limit_usd']) * NANOS),
      period: PERIODS.find((name) => name === each['period']) ?? 'month',
      partition: partitionOf(String(each['partition_key'])),
      partitionKey: String(each['partition_key']),
    })),
  };
}
