/** The profiles of a policy, and which of them holds for a request (docs/reference/plugins.md#ai-profiles). */
import { type Exchange, isList, type Json, type JsonObject } from '../../../kit.ts';

const POLICY_KEY = 'ai.policy';

export interface Profile<T> {
  readonly name: string;
  readonly settings: T;
}

export class Profiles<T> {
  readonly #profiles: ReadonlyMap<string, Profile<T>>;
  readonly #default: Profile<T>;
  readonly #log: (message: string, exchange: Exchange) => void;

  /** Throws if `profiles` lacks `default_profile`, and the errors of `read`. */
  constructor(
    config: JsonObject,
    read: (settings: JsonObject) => T,
    log: (message: string, exchange: Exchange) => void,
  ) {
    const entries = Object.entries(objectOf(config['profiles'])).map(
      ([name, each]) => [name, { name, settings: read(objectOf(each)) }] as const,
    );
    this.#profiles = new Map(entries);
    const fallback = this.#profiles.get(String(config['default_profile']));
    if (fallback === undefined) throw new Error('default_profile must be one of the names in profiles');
    this.#default = fallback;
    this.#log = log;
  }

  get all(): readonly Profile<T>[] {
    return [...this.#profiles.values()];
  }

  /** Returns the profile that `ai.policy` names, by default `default_profile`. */
  of(exchange: Exchange): Profile<T> {
    const chosen = exchange.context?.get(POLICY_KEY);
    if (chosen === undefined) return this.#default;
    const profile = this.#profiles.get(chosen);
    if (profile !== undefined) return profile;
    this.#log(`ai.policy names ${JSON.stringify(chosen)}, which is not in profiles: default_profile holds`, exchange);
    return this.#default;
  }
}

export function objectOf(value: Json | undefined): JsonObject {
  return typeof value !== 'object' || value === null || isList(value) ? {} : value;
}

/** Returns null if the value is not a number. */
export function numberOf(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

export function textsOf(value: Json | undefined): readonly string[] {
  return isList(value) ? value.map(String) : [];
}
