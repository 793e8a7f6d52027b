/**
 * Marks in a plugin's config-schema.json that the gateway uses (docs/reference/plugins.md#config): keywords of gw
 * beside the schema's.
 */

import { get, isList, isObject } from '../spec/json.ts';
import { child, pointerTokens, valueAt } from '../spec/pointer.ts';
import { type ConfigMarks, CREDENTIAL_KINDS, type CredentialsMark, type Json, type JsonObject } from './format.ts';

/** JSON pointers into a config, with `*` for every element or member. */
export interface Marks {
  /** `x-gw-upstream: true`. */
  readonly upstreams: readonly string[];
  /** `x-gw-upstream: "name"`: the name of an upstream with a policy. */
  readonly namedUpstreams: readonly string[];
  /** `x-gw-header-name: true`. */
  readonly headers: readonly string[];
  /** `x-gw-credentials: "<property>"`, or `{property, kind, name}`. */
  readonly credentials: readonly CredentialsMark[];
  /** `x-gw-cel: true`: conditions in the Common Expression Language. */
  readonly conditions: readonly string[];
  /** `x-gw-empty-is-unset: true`. */
  readonly optional: readonly string[];
  /** `x-gw-distinct: true`: different in each instance of a chain. */
  readonly distinct: readonly string[];
  /** `x-gw-replaces-examples: true`: a config that has it needs no examples out of the description. */
  readonly replacesExamples: readonly string[];
  /** `writeOnly: true`. */
  readonly secrets: readonly string[];
  /** `x-gw-path-params: "<kind>"`, or `{kind, unless}`: values that name path parameters of the operation. */
  readonly pathParams: readonly PathParamsMark[];
  /** `x-gw-member-of: "<pointer>"`: the name of a member of the object there. */
  readonly members: readonly MemberMark[];
  /** `x-gw-methods` of the schema itself: the methods of operations that the plugin can serve; null: any. */
  readonly methods: readonly string[] | null;
  /** `x-gw-data` of the schema itself: the kind of the artifact's entry that is made from a config; null without the mark. */
  readonly data: string | null;
}

/** How a config string names path parameters: `{name}` anywhere in it, itself, or as `$request.path.<name>`. */
const PATH_PARAM_KINDS = ['template', 'name', 'expression'] as const;

export interface PathParamsMark {
  readonly pointer: string;
  readonly kind: (typeof PATH_PARAM_KINDS)[number];
  /** Pointer of a property that takes its place. */
  readonly unless: string | null;
}

interface MemberMark {
  readonly pointer: string;
  /** Pointer of the object in the config, without `*`. */
  readonly of: string;
}

/** Levels of config that are looked into: enough for any, and an end for schemas that contain themselves. */
const MAX_DEPTH = 12;
/** Places in a config that marks are sought at; a schema that refers to itself in many members has no end of them. */
const MAX_PLACES = 100_000;
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf'];
const BRANCHES = ['if', 'then', 'else', 'not'];

/** Throws an Error if the schema has too many places to search. */
export function marksOf(schema: JsonObject | undefined): Marks {
  const upstreams = new Set<string>();
  const namedUpstreams = new Set<string>();
  const headers = new Set<string>();
  const secrets = new Set<string>();
  const optional = new Set<string>();
  const conditions = new Set<string>();
  const distinct = new Set<string>();
  const replacesExamples = new Set<string>();
  const credentials = new Map<string, CredentialsMark>();
  const pathParams = new Map<string, PathParamsMark>();
  const members = new Map<string, MemberMark>();
  const seen = new Set<string>();
  let places = 0;

  const visit = (node: unknown, pointer: string, depth: number): void => {
    if (!isObject(node) || depth > MAX_DEPTH) return;
    if (++places > MAX_PLACES) throw new Error('it refers to itself in too many ways');
    if (get(node, 'x-gw-upstream') === true) upstreams.add(pointer);
    if (get(node, 'x-gw-upstream') === 'name') namedUpstreams.add(pointer);
    if (get(node, 'x-gw-header-name') === true) {
      headers.add(pointer);
      if (isObject(get(node, 'items'))) headers.add(child(pointer, '*'));
    }
    if (get(node, 'x-gw-cel') === true) conditions.add(pointer);
    if (get(node, 'x-gw-distinct') === true) distinct.add(pointer);
    if (get(node, 'x-gw-replaces-examples') === true) replacesExamples.add(pointer);
    if (get(node, 'writeOnly') === true) secrets.add(pointer);
    if (get(node, 'x-gw-empty-is-unset') === true) optional.add(pointer);
    const credential = credentialsMark(pointer, get(node, 'x-gw-credentials'));
    if (credential) credentials.set(pointer, credential);
    const params = pathParamsMark(pointer, get(node, 'x-gw-path-params'));
    if (params) pathParams.set(pointer, params);
    const of = get(node, 'x-gw-member-of');
    if (typeof of === 'string') members.set(pointer, { pointer, of });
    const ref = get(node, '$ref');
    if (typeof ref === 'string' && ref.startsWith('#') && !seen.has(`${ref} ${pointer}`)) {
      seen.add(`${ref} ${pointer}`);
      visit(valueAt(schema, ref.slice(1)), pointer, depth + 1);
    }
    for (const name of [...SAME_VALUE, ...BRANCHES]) {
      const inner = get(node, name);
      for (const each of Array.isArray(inner) ? inner : [inner]) visit(each, pointer, depth + 1);
    }
    const properties = get(node, 'properties');
    if (isObject(properties)) {
      for (const [name, each] of Object.entries(properties)) visit(each, child(pointer, name), depth + 1);
    }
    const patterns = get(node, 'patternProperties');
    const rest = [get(node, 'additionalProperties'), ...(isObject(patterns) ? Object.values(patterns) : [])];
    const prefix = get(node, 'prefixItems');
    for (const each of [...rest, get(node, 'items'), ...(Array.isArray(prefix) ? prefix : [])]) {
      visit(each, child(pointer, '*'), depth + 1);
    }
  };
  visit(schema, '', 0);
  return {
    upstreams: [...upstreams].sort(),
    namedUpstreams: [...namedUpstreams].sort(),
    headers: [...headers].sort(),
    credentials: [...credentials.values()],
    conditions: [...conditions].sort(),
    optional: [...optional].sort(),
    distinct: [...distinct].sort(),
    replacesExamples: [...replacesExamples].sort(),
    secrets: [...secrets].sort(),
    pathParams: [...pathParams.values()],
    members: [...members.values()],
    methods: methodsOf(get(schema, 'x-gw-methods')),
    data: dataKind(get(schema, 'x-gw-data')),
  };
}

function pathParamsMark(pointer: string, mark: unknown): PathParamsMark | null {
  const kind = PATH_PARAM_KINDS.find((each) => each === (isObject(mark) ? get(mark, 'kind') : mark));
  const unless = get(mark, 'unless');
  return kind === undefined ? null : { pointer, kind, unless: typeof unless === 'string' ? unless : null };
}

function dataKind(mark: unknown): string | null {
  return typeof mark === 'string' ? mark : null;
}

function methodsOf(mark: unknown): readonly string[] | null {
  return Array.isArray(mark) ? mark.filter((each) => typeof each === 'string') : null;
}

function credentialsMark(pointer: string, mark: unknown): CredentialsMark | null {
  if (typeof mark === 'string') return { pointer, property: mark };
  const [property, name] = [get(mark, 'property'), get(mark, 'name')];
  const kind = CREDENTIAL_KINDS.find((each) => each === get(mark, 'kind'));
  if (typeof property !== 'string' || typeof name !== 'string' || kind === undefined) return null;
  return { pointer, property, kind, name };
}

/** Returns the marks for the artifact's manifest; undefined if all are empty. */
export function manifestMarks(marks: Marks): ConfigMarks | undefined {
  const { credentials, optional } = marks;
  const upstreams = [...marks.upstreams, ...marks.namedUpstreams].sort();
  const kept = Object.entries({ upstreams, credentials, optional }).filter(([, pointers]) => pointers.length > 0);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The values of a config that a marked pointer stands for, with the pointer to each. */
export function marked(config: Json, pattern: string): { readonly pointer: string; readonly value: Json }[] {
  let found: { readonly pointer: string; readonly value: Json }[] = [{ pointer: '', value: config }];
  for (const token of pointerTokens(pattern) ?? []) {
    found = found.flatMap(({ pointer, value }) => {
      if (typeof value !== 'object' || value === null) return [];
      const entries: readonly (readonly [string, Json])[] = Object.entries(value);
      return entries
        .filter(([key]) => token === '*' || key === token)
        .map(([key, each]) => ({ pointer: child(pointer, key), value: each }));
    });
  }
  return found;
}

/** The config with every string at the marked pointers put through `change`. */
export function mapMarked(
  config: JsonObject,
  patterns: readonly string[],
  change: (text: string) => string,
): JsonObject {
  return replaceMarked(config, patterns, (value) => (typeof value === 'string' ? change(value) : value));
}

/** The config with every value below it at the marked pointers put through `change`. */
export function replaceMarked(
  config: JsonObject,
  patterns: readonly string[],
  change: (value: Json) => Json,
): JsonObject {
  const changes = new Map<string, Json>();
  for (const pattern of patterns) {
    for (const { pointer, value } of marked(config, pattern)) {
      const changed = change(value);
      if (changed !== value) changes.set(pointer, changed);
    }
  }
  if (changes.size === 0) return config;
  const apply = (value: Json, pointer: string): Json => {
    const changed = changes.get(pointer);
    if (changed !== undefined) return changed;
    if (typeof value !== 'object' || value === null) return value;
    if (isList(value)) return value.map((each, i) => apply(each, child(pointer, i)));
    return applyTo(value, pointer);
  };
  const applyTo = (value: JsonObject, pointer: string): JsonObject =>
    Object.fromEntries(Object.entries(value).map(([key, each]) => [key, apply(each, child(pointer, key))]));
  return applyTo(config, '');
}
