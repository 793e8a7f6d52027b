/** Settings of `waf` (docs/reference/plugins.md#waf), read once from its config. */

import { get, type JsonObject } from '../../kit.ts';

/** The config cannot be used; stops the load (exit 1). Names the property. */
class WafSettingsError extends Error {}

/** Rules, or parameters of rules, that do not apply. */
export interface ExclusionSettings {
  /** Rules by their ids, `from` and `to` included. */
  readonly ids: readonly (readonly [from: number, to: number])[];
  readonly tags: readonly string[];
  /** By operationId, or method and path; null: all operations. */
  readonly operations: ReadonlySet<string> | null;
  /** Null: the rules do not apply at all. */
  readonly parameters: readonly ExcludedParameter[] | null;
}

export interface ExcludedParameter {
  readonly place: ParameterPlace;
  /** Name; of a member of a body its path, in which `*` stands for one name. */
  readonly name: string;
}

type ParameterPlace = 'query' | 'body' | 'header' | 'cookie';

export interface WafSettings {
  /** Path of the artifact's entry with the rules. */
  readonly ruleSet: string;
  readonly blocks: boolean;
  readonly paranoiaLevel: number;
  readonly detectionParanoiaLevel: number;
  readonly thresholds: { readonly inbound: number; readonly outbound: number };
  /** Percent of the requests. */
  readonly sampling: number;
  readonly exclusions: readonly ExclusionSettings[];
  readonly requestBody: {
    readonly inspect: boolean;
    readonly maxBytes: number;
    /** The beginning of a longer body is inspected, in place of 413. */
    readonly partial: boolean;
    readonly maxArguments: number;
    readonly maxDepth: number;
  };
  readonly responseBody: {
    readonly inspect: boolean;
    readonly maxBytes: number;
    readonly contentTypes: readonly string[];
  };
  readonly useDocument: boolean;
  readonly audit: { readonly requests: 'relevant' | 'all' | 'none'; readonly values: boolean };
}

/** The plugin's schema has checked types and filled in defaults. Throws WafSettingsError. */
export function readWafSettings(config: JsonObject): WafSettings {
  const { rule_set: ruleSet, mode, use_document: useDocument } = config;
  if (typeof ruleSet !== 'string') throw new WafSettingsError('the config has no rules: compile the project with gw');
  const paranoiaLevel = numberAt(config, 'paranoia_level');
  const detection = get(config, 'detection_paranoia_level');
  const detectionParanoiaLevel = typeof detection === 'number' ? detection : paranoiaLevel;
  if (detectionParanoiaLevel < paranoiaLevel)
    throw new WafSettingsError('detection_paranoia_level is below paranoia_level: rules that count must run');
  const requests = get(get(config, 'audit_log'), 'requests');
  return {
    ruleSet,
    blocks: mode !== 'detect',
    paranoiaLevel,
    detectionParanoiaLevel,
    thresholds: {
      inbound: numberAt(config, 'anomaly_thresholds', 'inbound'),
      outbound: numberAt(config, 'anomaly_thresholds', 'outbound'),
    },
    sampling: numberAt(config, 'sampling'),
    exclusions: listOf(get(config, 'exclusions')).map(exclusionOf),
    requestBody: {
      inspect: get(get(config, 'request_body'), 'inspect') !== false,
      maxBytes: numberAt(config, 'request_body', 'max_bytes'),
      partial: get(get(config, 'request_body'), 'over_limit') === 'partial',
      maxArguments: numberAt(config, 'request_body', 'max_arguments'),
      maxDepth: numberAt(config, 'request_body', 'max_depth'),
    },
    responseBody: {
      inspect: get(get(config, 'response_body'), 'inspect') === true,
      maxBytes: numberAt(config, 'response_body', 'max_bytes'),
      contentTypes: textsOf(get(get(config, 'response_body'), 'content_types')),
    },
    useDocument: useDocument !== false,
    audit: {
      requests: requests === 'all' || requests === 'none' ? requests : 'relevant',
      values: get(get(config, 'audit_log'), 'values') === true,
    },
  };
}

function exclusionOf(value: unknown): ExclusionSettings {
  const operations = get(value, 'operations');
  const parameters = get(value, 'parameters');
  return {
    ids: listOf(get(value, 'rules')).flatMap((each) => {
      const ids = idsOf(each);
      return ids === null ? [] : [ids];
    }),
    tags: textsOf(get(value, 'tags')),
    operations: operations === undefined ? null : new Set(textsOf(operations)),
    parameters: parameters === undefined ? null : textsOf(parameters).map(parameterOf),
  };
}

/** Reads an id, or a range of ids; null if a range ends before it begins. */
export function idsOf(value: unknown): readonly [from: number, to: number] | null {
  if (typeof value === 'number') return [value, value];
  const [from, to] = String(value).split('-').map(Number);
  return from !== undefined && to !== undefined && from <= to ? [from, to] : null;
}

const PLACES: readonly ParameterPlace[] = ['query', 'body', 'header', 'cookie'];

function parameterOf(text: string): ExcludedParameter {
  const colon = text.indexOf(':');
  const place = PLACES.find((each) => each === text.slice(0, colon));
  if (place === undefined) throw new WafSettingsError(`exclusions: "${text}" names no place such as query:`);
  return { place, name: text.slice(colon + 1) };
}

function numberAt(config: JsonObject, ...path: readonly string[]): number {
  const value = path.reduce<unknown>((within, name) => get(within, name), config);
  if (typeof value !== 'number') throw new WafSettingsError(`${path.join('.')} must be a number`);
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((each) => typeof each === 'string');
}
