/** What tokens cost, by provider and model. In billionths of a dollar: those are whole numbers, and exact to 9 million dollars. */
import type { JsonObject } from '../../../artifact/format.ts';
import type { SpentTokens } from '../../ai/spent-tokens.ts';
import { Glob } from '../../ai/targets/glob.ts';
import { numberOf, objectOf } from '../profiles.ts';

export const NANOS = 1e9;

export interface Price {
  /** As the config names it. */
  readonly model: string;
  /** Of one token, in dollars. */
  readonly prompt: number;
  readonly completion: number;
  /** Of a prompt token that was in the provider's cache. */
  readonly cached: number;
}

interface Entry {
  readonly provider: Glob;
  readonly model: Glob;
  readonly price: Price;
}

export class Prices {
  readonly #entries: readonly Entry[];

  /** `config`: of `ai-cost-tracker`. */
  constructor(config: JsonObject) {
    const unit = Number(config['price_unit']);
    this.#entries = Object.entries(objectOf(config['prices'])).map(([key, each]) => entryOf(key, objectOf(each), unit));
  }

  /** The first one that matches; null: there is none. */
  of({ provider, model }: Pick<SpentTokens, 'provider' | 'model'>): Price | null {
    const found = this.#entries.find((each) => each.provider.matches(provider) && each.model.matches(model));
    return found?.price ?? null;
  }

  /** The most that a model may cost: which provider answers is not known yet. Null: none has a price. */
  highest(model: string, prompt: number, completion: number): number | null {
    const costs = this.#entries
      .filter((each) => each.model.matches(model))
      .map(({ price }) => costOf(price, { prompt, completion, cached: 0 }));
    return costs.length === 0 ? null : Math.max(...costs);
  }
}

/** Rounded up: a token costs something where it has a price. */
export function costOf(price: Price, { prompt, completion, cached }: Omit<SpentTokens, 'provider' | 'model'>): number {
  const fresh = Math.max(0, prompt - cached);
  const dollars = fresh * price.prompt + (prompt - fresh) * price.cached + completion * price.completion;
  // Not for what is lost where a price is no sum of powers of two.
  return Math.ceil(Number((dollars * NANOS).toFixed(3)));
}

function entryOf(key: string, price: JsonObject, unit: number): Entry {
  const slash = key.indexOf('/');
  const prompt = Number(price['prompt']) / unit;
  const cached = numberOf(price['cached']);
  return {
    provider: new Glob(key.slice(0, slash)),
    model: new Glob(key.slice(slash + 1)),
    price: {
      model: key,
      prompt,
      completion: Number(price['completion']) / unit,
      cached: cached === null ? prompt : cached / unit,
    },
  };
}
