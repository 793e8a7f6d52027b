/** The config of `ai-proxy`, whose schema has checked types and patterns. */
import type { Json, JsonObject } from '../../../artifact/format.ts';
import type { CircuitBreaker } from '../../../egress/breaker.ts';
import { isList } from '../../../spec/json.ts';
import { Glob } from './glob.ts';
import { baseUrlOf, Target } from './targets.ts';

export interface Route {
  readonly pattern: Glob;
  readonly target: Target;
}

export interface AiSettings {
  readonly targets: ReadonlyMap<string, Target>;
  readonly routes: readonly Route[];
  /** Of `default_target`; null: there is none. */
  readonly fallsTo: Target | null;
  /** That of the config's own `provider`; null: there is none. */
  readonly flat: Target | null;
  readonly fallback: readonly Target[];
  readonly timeoutMs: number;
  /** Of each provider in the list of models. */
  readonly modelsTimeoutMs: number;
  /** Whose models are listed: one for each provider and base URL, with all targets that go there. */
  readonly catalogs: readonly (readonly [Target, ...Target[]])[];
  /** Of requests that name none; null: they go without. */
  readonly maxTokens: number | null;
  /** Providers are asked for the count of tokens of each stream. */
  readonly streamUsage: boolean;
}

/** Throws where the config cannot be used. */
export function aiSettings(config: JsonObject): AiSettings {
  const breakers = new Map<string, CircuitBreaker>();
  const target = (each: JsonObject) => new Target(each, breakers);
  const targets = new Map(namedTargets(config).map(([name, each]) => [name, target(each)]));
  const { default_target: named, max_tokens: maxTokens } = config;
  const fallsTo = typeof named === 'string' ? targets.get(named) : null;
  if (fallsTo === undefined) throw new Error('default_target must be one of the names in targets');
  const routes = objectsOf(config['routes']).map((each) => ({
    pattern: new Glob(String(each['pattern'])),
    target: target(each),
  }));
  const flat = config['provider'] === undefined ? null : target(config);
  const listed = [...routes.map((route) => route.target), ...targets.values(), ...(flat === null ? [] : [flat])];
  return {
    targets,
    routes,
    fallsTo,
    flat,
    catalogs: catalogsOf(listed),
    modelsTimeoutMs: Number(config['models_timeout_ms']),
    fallback: objectsOf(config['fallback']).map(target),
    timeoutMs: Math.max(1, Number(config['timeout']) * 1000),
    maxTokens: typeof maxTokens === 'number' ? maxTokens : null,
    streamUsage: config['stream_usage'] !== false,
  };
}

function catalogsOf(targets: readonly Target[]): AiSettings['catalogs'] {
  const catalogs = new Map<string, [Target, ...Target[]]>();
  for (const target of targets) {
    const key = `${target.provider} ${target.baseUrl}`;
    const catalog = catalogs.get(key);
    if (catalog) catalog.push(target);
    else catalogs.set(key, [target]);
  }
  return [...catalogs.values()];
}

/** URLs that the config does not name, but goes to. */
export function impliedUrls(config: JsonObject): readonly string[] {
  const named = namedTargets(config).map(([, each]) => each);
  const all = [...objectsOf(config['routes']), ...objectsOf(config['fallback']), ...named];
  const flat = config['provider'] === undefined ? [] : [config];
  return [...new Set([...all, ...flat].filter((each) => each['base_url'] === undefined).map(baseUrlOf))];
}

function namedTargets(config: JsonObject): readonly (readonly [name: string, target: JsonObject])[] {
  return Object.entries(objectOf(config['targets']) ?? {}).flatMap(([name, each]) => {
    const target = objectOf(each);
    return target === null ? [] : [[name, target] as const];
  });
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  const objects = isList(value) ? value.map(objectOf) : [];
  return objects.filter((each) => each !== null);
}

function objectOf(value: Json | undefined): JsonObject | null {
  return typeof value !== 'object' || isList(value) ? null : value;
}
