/** The config of `ai-proxy`, with types and patterns checked by its schema. */

import type { JsonObject, WebSocketLimits } from '../../../../kit.ts';
import { type Alias, aliasesOf } from './aliases.ts';
import { KnownEndpoints } from './endpoint.ts';
import { type FilesSettings, filesSettings } from './files-settings.ts';
import { Glob } from './glob.ts';
import { ModelTable } from './model-table.ts';
import { baseUrlOf } from './provider.ts';
import { endpointConfigs, objectOf, objectsOf, Target } from './targets.ts';

interface Route {
  readonly pattern: Glob;
  readonly target: Target;
}

export interface AiSettings {
  readonly targets: ReadonlyMap<string, Target>;
  readonly routes: readonly Route[];
  /** Aliases by the name that clients use. */
  readonly aliases: ReadonlyMap<string, Alias>;
  /** Target of `default_target`; null if unset. */
  readonly fallsTo: Target | null;
  /** Target of the config's own `provider`; null if unset. */
  readonly flat: Target | null;
  readonly fallback: readonly Target[];
  readonly timeoutMs: number;
  /** Milliseconds for each provider in the list of models. */
  readonly modelsTimeoutMs: number;
  /** Targets whose models are listed: one for each provider and its base URLs, with all targets that go there. */
  readonly catalogs: readonly (readonly [Target, ...Target[]])[];
  /** Limits of open realtime sessions. */
  readonly realtime: WebSocketLimits;
  /** Limit for requests that name none; null: no limit is sent. */
  readonly maxTokens: number | null;
  /** Traits by which models of one protocol differ. */
  readonly models: ModelTable;
  /** Providers are asked for the count of tokens of each stream. */
  readonly streamUsage: boolean;
  /** Null: files and batches are refused. */
  readonly files: FilesSettings | null;
}

/** Throws if the config cannot be used. */
export function aiSettings(config: JsonObject): AiSettings {
  const known = new KnownEndpoints();
  const target = (name: string, each: JsonObject) => new Target(name, each, known);
  const targets = new Map(namedTargets(config).map(([name, each]) => [name, target(`target ${name}`, each)]));
  const { default_target: named, max_tokens: maxTokens } = config;
  const fallsTo = typeof named === 'string' ? targets.get(named) : null;
  if (fallsTo === undefined) throw new Error('default_target must be one of the names in targets');
  const routes = objectsOf(config['routes']).map((each) => ({
    pattern: new Glob(String(each['pattern'])),
    target: target(`route ${String(each['pattern'])}`, each),
  }));
  const flat = config['provider'] === undefined ? null : target('provider', config);
  const listed = [...routes.map((route) => route.target), ...targets.values(), ...(flat === null ? [] : [flat])];
  return {
    targets,
    routes,
    aliases: aliasesOf(config, targets),
    fallsTo,
    flat,
    catalogs: catalogsOf(listed),
    modelsTimeoutMs: Number(config['models_timeout_ms']),
    fallback: objectsOf(config['fallback']).map((each, i) => target(`fallback ${i + 1}`, each)),
    timeoutMs: Math.max(1, Number(config['timeout']) * 1000),
    realtime: realtimeLimits(config),
    maxTokens: typeof maxTokens === 'number' ? maxTokens : null,
    models: new ModelTable(config),
    streamUsage: config['stream_usage'] !== false,
    files: filesSettings(config, targets, fallsTo ?? flat),
  };
}

function realtimeLimits({ realtime_idle_timeout: idle, realtime_max_message_size: size }: JsonObject): WebSocketLimits {
  return { idleTimeoutMs: Number(idle) * 1000, maxMessageBytes: Number(size) };
}

function catalogsOf(targets: readonly Target[]): AiSettings['catalogs'] {
  const catalogs = new Map<string, [Target, ...Target[]]>();
  for (const target of targets) {
    const key = [target.provider, ...target.endpoints.map(({ baseUrl }) => baseUrl).toSorted()].join(' ');
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
  const endpoints = [...all, ...flat].flatMap(endpointConfigs);
  return [...new Set(endpoints.filter((each) => each['base_url'] === undefined).map(baseUrlOf))];
}

function namedTargets(config: JsonObject): readonly (readonly [name: string, target: JsonObject])[] {
  return Object.entries(objectOf(config['targets']) ?? {}).flatMap(([name, each]) => {
    const target = objectOf(each);
    return target === null ? [] : [[name, target] as const];
  });
}
