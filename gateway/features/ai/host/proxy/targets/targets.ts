/** Targets of requests: the config of a provider, ready to be called. */

import { isList, type Json, type JsonObject } from '../../../../kit.ts';
import { Balance } from './balance.ts';
import { Endpoint, type KnownEndpoints } from './endpoint.ts';
import { Glob } from './glob.ts';
import { type Provider, providerOf } from './provider.ts';

export class Target {
  /** As the config has it: for the trace. */
  readonly name: string;
  readonly provider: Provider;
  readonly endpoints: readonly [Endpoint, ...Endpoint[]];
  readonly balance: Balance;
  readonly #allow: readonly Glob[] | null;
  readonly #deny: readonly Glob[];

  /** Throws if the config cannot be used. */
  constructor(name: string, config: JsonObject, known: KnownEndpoints) {
    this.name = name;
    this.provider = providerOf(config);
    const [first, ...others] = endpointConfigs(config).map((each) => new Endpoint(each, known));
    if (first === undefined) throw new Error('a target needs an endpoint');
    this.endpoints = [first, ...others];
    this.balance = new Balance(config, this.endpoints);
    this.#allow = globsOf(config['allow']);
    this.#deny = globsOf(config['deny']) ?? [];
  }

  /** Reports whether its catalog permits every model. */
  get permitsAll(): boolean {
    return this.#allow === null && this.#deny.length === 0;
  }

  /** Reports whether its catalog has the model. */
  permits(model: string): boolean {
    if (this.#deny.some((glob) => glob.matches(model))) return false;
    return this.#allow === null || this.#allow.some((glob) => glob.matches(model));
  }

  /** Seconds until the first of its endpoints can be asked for the model. */
  retryAfter(model: string): number {
    return Math.min(...this.endpoints.map(({ health }) => health.retryAfter(model)));
  }
}

/**
 * Returns the configs of endpoints, which inherit from the target's; without a list, the target is its only endpoint.
 */
export function endpointConfigs(config: JsonObject): readonly JsonObject[] {
  const { provider, base_url, api_key, auth, endpoints } = config;
  const said = { provider, base_url, api_key, auth };
  const own = objectsOf(endpoints);
  const named = Object.fromEntries(
    Object.entries(said).flatMap(([name, each]) => (each === undefined ? [] : [[name, each]])),
  );
  return own.length === 0 ? [named] : own.map((each) => ({ ...named, ...each }));
}

export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  const objects = isList(value) ? value.map(objectOf) : [];
  return objects.filter((each) => each !== null);
}

export function objectOf(value: Json | undefined): JsonObject | null {
  return typeof value !== 'object' || isList(value) ? null : value;
}

/** Returns null if the list is absent or empty. */
function globsOf(value: JsonObject[string] | undefined): readonly Glob[] | null {
  return Array.isArray(value) && value.length > 0 ? value.map((each) => new Glob(String(each))) : null;
}
