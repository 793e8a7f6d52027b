/**
 * Prices of tokens, by provider and model. In billionths of a dollar: those are whole numbers, and exact to 9 million
 * dollars.
 */

import type { JsonObject } from '../../../../kit.ts';
import type { SpentTokens } from '../../proxy/spent-tokens.ts';
import { bySpecificity, Glob } from '../../proxy/targets/glob.ts';
import { numberOf, objectOf } from '../profiles.ts';

export const NANOS = 1e9;

export interface Price {
  /** As the config names it. */
  readonly model: string;
  /** Dollars for one token. */
  readonly prompt: number;
  readonly completion: number;
  /** Dollars for a prompt token that was in the provider's cache. */
  readonly cached: number;
  /** Dollars for one that the provider writes to its cache, and for one that it keeps there for an hour. */
  readonly written: number;
  readonly writtenLong: number;
  /** Dollars for one of audio. */
  readonly promptAudio: number;
  readonly completionAudio: number;
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
    this.#entries = Object.entries(objectOf(config['prices']))
      .sort(([a], [b]) => bySpecificity(a, b))
      .map(([key, each]) => entryOf(key, objectOf(each), unit));
  }

  /** Returns the price in the most specific entry that matches, in any order; null if no entry matches. */
  of({ provider, model }: Pick<SpentTokens, 'provider' | 'model'>): Price | null {
    const found = this.#entries.find((each) => each.provider.matches(provider) && each.model.matches(model));
    return found?.price ?? null;
  }

  /**
   * Returns the highest cost for a model, since the provider that answers is not known yet; null if the model has no
   * price.
   */
  highest(model: string, prompt: number, completion: number): number | null {
    const costs = this.#entries
      .filter((each) => each.model.matches(model))
      .flatMap(({ price }) =>
        [0, completion].flatMap((completionAudio) =>
          [{}, { written: prompt }, { written: prompt, writtenLong: prompt }].map((written) =>
            costOf(price, { prompt, completion, cached: 0, completionAudio, ...written }),
          ),
        ),
      );
    return costs.length === 0 ? null : Math.max(...costs);
  }
}

type Spent = Omit<SpentTokens, 'provider' | 'model'>;

/** Returns the cost, rounded up: a token with a price costs at least one unit. Cached audio counts as text. */
export function costOf(price: Price, spent: Spent): number {
  const { prompt, completion, cached, promptAudio = 0, completionAudio = 0 } = spent;
  const fresh = Math.max(0, prompt - cached);
  const written = Math.min(fresh, spent.written ?? 0);
  const long = Math.min(written, spent.writtenLong ?? 0);
  const [audioPrompt, audioCompletion] = [
    Math.min(fresh - written, promptAudio),
    Math.min(completion, completionAudio),
  ];
  const dollars =
    (fresh - written - audioPrompt) * price.prompt +
    (written - long) * price.written +
    long * price.writtenLong +
    audioPrompt * price.promptAudio +
    (prompt - fresh) * price.cached +
    (completion - audioCompletion) * price.completion +
    audioCompletion * price.completionAudio;
  // Ignores rounding errors of prices that are not sums of powers of two.
  return Math.ceil(Number((dollars * NANOS).toFixed(3)));
}

function entryOf(key: string, price: JsonObject, unit: number): Entry {
  const slash = key.indexOf('/');
  const prompt = Number(price['prompt']) / unit;
  const completion = Number(price['completion']) / unit;
  const or = (name: string, others: number) => {
    const own = numberOf(price[name]);
    return own === null ? others : own / unit;
  };
  return {
    provider: new Glob(key.slice(0, slash)),
    model: new Glob(key.slice(slash + 1)),
    price: {
      model: key,
      prompt,
      completion,
      cached: or('cached', prompt),
      written: or('cache_write', prompt),
      writtenLong: or('cache_write_1h', or('cache_write', prompt)),
      promptAudio: or('audio_prompt', prompt),
      completionAudio: or('audio_completion', completion),
    },
  };
}
