/** Traits of models by their names. */

import type { JsonObject } from '../../../../kit.ts';
import { EFFORTS } from '../conversation/effort.ts';
import { KNOWN_MODELS } from '../models/known-models.ts';
import { LIMITS, LOCAL, type ModelTraits, NEWEST, THINKING, THINKING_OFF } from '../models/model-traits.ts';
import { bySpecificity, Glob } from './glob.ts';
import type { Provider } from './provider.ts';
import { objectOf } from './targets.ts';

type Row = readonly [pattern: Glob, traits: Partial<ModelTraits>];

const KNOWN = new Map<Provider, readonly Row[]>(
  (['provider_chat', 'provider_messages', 'provider_local'] as const).map((provider) => [
    provider,
    KNOWN_MODELS.filter((each) => each.provider === provider).flatMap(({ patterns, traits }) =>
      patterns.map((pattern): Row => [new Glob(pattern), traits]),
    ),
  ]),
);

/** Traits by the model's own name: those of the config, else known ones, else those of the newest models. */
export class ModelTable {
  readonly #own: readonly Row[];

  /** `config`: of ai-proxy, checked by its schema. */
  constructor(config: JsonObject) {
    const own = Object.entries(objectOf(config['models'] ?? {}) ?? {});
    this.#own = own
      .toSorted(([a], [b]) => bySpecificity(a, b))
      .map(([pattern, each]) => [new Glob(pattern), ownTraits(objectOf(each) ?? {})]);
  }

  traitsOf(provider: Provider, model: string): ModelTraits {
    const base = provider === 'provider_local' ? LOCAL : NEWEST;
    return { ...base, ...first(KNOWN.get(provider) ?? [], model), ...first(this.#own, model) };
  }
}

function first(rows: readonly Row[], model: string): Partial<ModelTraits> {
  return rows.find(([pattern]) => pattern.matches(model))?.[1] ?? {};
}

function ownTraits(config: JsonObject): Partial<ModelTraits> {
  const { efforts, effort_with_tools, sampling, forced_tools } = config;
  const flag = (name: keyof ModelTraits, value: unknown) => (typeof value === 'boolean' ? { [name]: value } : {});
  return {
    ...one('limit', LIMITS, config['limit']),
    ...one('thinking', THINKING, config['thinking']),
    ...one('thinkingOff', THINKING_OFF, config['thinking_off']),
    ...(Array.isArray(efforts) ? { efforts: EFFORTS.filter((each) => efforts.includes(each)) } : {}),
    ...flag('effortWithTools', effort_with_tools),
    ...flag('sampling', sampling),
    ...flag('forcedTools', forced_tools),
  };
}

function one<V>(name: keyof ModelTraits, values: readonly V[], value: unknown): Partial<ModelTraits> {
  const found = values.find((each) => each === value);
  return found === undefined ? {} : { [name]: found };
}
