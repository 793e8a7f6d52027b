/**
 * Decides whether a schema admits more or less than an older one: compares their texts, part by part, through
 * references.
 */
import { canonicalJson } from '../artifact/canonical-json.ts';
import type { Json, JsonObject, RoutesFile, SchemaRef } from '../artifact/format.ts';
import { child } from '../spec/pointer.ts';
import { compareValues, type Effect, type Finding } from './schema-values.ts';

type Table = RoutesFile['schemas'];

/** Findings of one pair; a schema that is new altogether has more than anyone reads. */
const MOST = 50;
/** Pairs of one comparison of artifacts; schemas made for it could have millions. */
const MOST_PAIRS = 200_000;
/** Keywords with a schema that values of this kind must fit; without them any does. */
const PARTS: readonly (readonly [keyword: string, step: string])[] = [
  ['items', '/*'],
  ['additionalProperties', '/*'],
  ['propertyNames', ''],
];
/** Keywords whose differences may admit more or less, depending on their neighbours. */
const INTRICATE = ['not', 'contains', 'unevaluatedItems', 'unevaluatedProperties'];

export class SchemaComparison {
  readonly #before: Table;
  readonly #after: Table;
  /**
   * Findings by pair of references; null while it is being compared: a pair that leads back to itself counts as equal.
   */
  readonly #known = new Map<string, readonly Finding[] | null>();
  #pairs = 0;

  constructor(before: Table, after: Table) {
    this.#before = before;
    this.#after = after;
  }

  /** Undefined admits everything. */
  compare(before: SchemaRef | undefined, after: SchemaRef | undefined): readonly Finding[] {
    try {
      return this.#compare(jsonOf(before), jsonOf(after));
    } catch (error) {
      // The stack ends before the limits on depth do only for schemas made to exhaust it.
      if (!(error instanceof RangeError)) throw error;
      return [{ at: '', effect: 'changed', what: 'the schemas are too deep to compare' }];
    }
  }

  #compare(before: Json, after: Json): readonly Finding[] {
    const [from, to] = [refOf(before), refOf(after)];
    if (from === undefined && to === undefined) return this.#described(before, after);
    const key = canonicalJson([before, after]);
    const known = this.#known.get(key);
    if (known !== undefined) return known ?? [];
    this.#known.set(key, null);
    const [old, now] = [resolved(before, this.#before), resolved(after, this.#after)];
    const leadsOn = refOf(old) !== undefined || refOf(now) !== undefined;
    const found = leadsOn ? this.#compare(old, now) : this.#described(old, now);
    this.#known.set(key, found);
    return found;
  }

  #described(before: Json, after: Json): readonly Finding[] {
    if (++this.#pairs > MOST_PAIRS)
      return [{ at: '', effect: 'changed', what: 'the schemas are too large to compare' }];
    if (isAnything(before) || isAnything(after) || !isSchema(before) || !isSchema(after)) return whole(before, after);
    const found = [
      ...compareValues(before, after),
      ...this.#properties(before, after),
      ...PARTS.flatMap(([keyword, step]) =>
        below(step, this.#compare(before[keyword] ?? true, after[keyword] ?? true)),
      ),
      ...this.#prefixItems(before, after),
      ...this.#byName('dependentSchemas', before, after, { added: 'narrowed', removed: 'widened' }),
      ...this.#byName('patternProperties', before, after, { added: 'changed', removed: 'changed' }),
      ...this.#conditions(before, after),
      ...this.#all(listOf(before['allOf']), listOf(after['allOf'])),
      ...['anyOf', 'oneOf'].flatMap((keyword) => this.#some(keyword, before[keyword], after[keyword])),
      ...INTRICATE.flatMap((keyword) => this.#intricate(keyword, before[keyword], after[keyword])),
    ];
    const rest = ['unevaluatedItems', 'unevaluatedProperties'].find((keyword) => after[keyword] !== undefined);
    if (rest === undefined || found.length === 0) return found.slice(0, MOST);
    return [{ at: '', effect: 'changed', what: `${rest} stands beside what has changed` }, ...found.slice(0, MOST)];
  }

  #properties(before: JsonObject, after: JsonObject): readonly Finding[] {
    const [old, now] = [objectOf(before['properties']), objectOf(after['properties'])];
    const [others, othersNow] = [before['additionalProperties'] ?? true, after['additionalProperties'] ?? true];
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name): readonly Finding[] => {
      const [from, to] = [memberOf(old, name), memberOf(now, name)];
      const at = child('', name);
      if (from !== undefined && to !== undefined) return below(at, this.#compare(from, to));
      // A new optional property is for new clients.
      if (from === undefined) {
        if (isAnything(others)) return [{ at, effect: 'named', what: 'added' }];
        return others === false
          ? [{ at, effect: 'widened', what: 'added' }]
          : below(at, this.#compare(others, to ?? true));
      }
      if (isAnything(othersNow)) return [{ at, effect: 'widened', what: 'removed' }];
      if (othersNow === false) return [{ at, effect: 'narrowed', what: 'removed' }];
      return below(at, this.#compare(from, othersNow));
    });
  }

  #byName(
    keyword: string,
    before: JsonObject,
    after: JsonObject,
    effects: { readonly added: Effect; readonly removed: Effect },
  ): readonly Finding[] {
    const [old, now] = [objectOf(before[keyword]), objectOf(after[keyword])];
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name): readonly Finding[] => {
      const [from, to] = [memberOf(old, name), memberOf(now, name)];
      if (from === undefined) return [{ at: '', effect: effects.added, what: `${keyword} "${name}" added` }];
      if (to === undefined) return [{ at: '', effect: effects.removed, what: `${keyword} "${name}" removed` }];
      return this.#compare(from, to);
    });
  }

  /** If the condition is the same, its consequences are compared by themselves. */
  #conditions(before: JsonObject, after: JsonObject): readonly Finding[] {
    if (before['if'] === undefined && after['if'] === undefined) return [];
    if (after['if'] === undefined) return [{ at: '', effect: 'widened', what: '"if" removed' }];
    if (before['if'] === undefined) return [{ at: '', effect: 'narrowed', what: '"if" added' }];
    if (this.#compare(before['if'], after['if']).length > 0)
      return [{ at: '', effect: 'changed', what: '"if" changed' }];
    return ['then', 'else'].flatMap((branch) => this.#compare(before[branch] ?? true, after[branch] ?? true));
  }

  #intricate(keyword: string, before: Json | undefined, after: Json | undefined): readonly Finding[] {
    if (before === undefined && after === undefined) return [];
    if (after === undefined) return [{ at: '', effect: 'widened', what: `${keyword} removed` }];
    if (before === undefined) return [{ at: '', effect: 'narrowed', what: `${keyword} added` }];
    return this.#compare(before, after).length > 0 ? [{ at: '', effect: 'changed', what: `${keyword} changed` }] : [];
  }

  #prefixItems(before: JsonObject, after: JsonObject): readonly Finding[] {
    const [old, now] = [listOf(before['prefixItems']), listOf(after['prefixItems'])];
    const longest = Math.max(old.length, now.length);
    return Array.from({ length: longest }, (_, i) =>
      below(`/${i}`, this.#compare(old[i] ?? before['items'] ?? true, now[i] ?? after['items'] ?? true)),
    ).flat();
  }

  #all(before: readonly Json[], after: readonly Json[]): readonly Finding[] {
    const [old, now] = this.#unmatched(before, after);
    return Array.from({ length: Math.max(old.length, now.length) }, (_, i) =>
      this.#compare(old[i] ?? true, now[i] ?? true),
    ).flat();
  }

  #some(keyword: string, before: Json | undefined, after: Json | undefined): readonly Finding[] {
    if (before === undefined && after === undefined) return [];
    if (after === undefined) return [{ at: '', effect: 'widened', what: `${keyword} removed` }];
    if (before === undefined) return [{ at: '', effect: 'narrowed', what: `${keyword} added` }];
    const [old, now] = this.#unmatched(listOf(before), listOf(after));
    const shared = Math.min(old.length, now.length);
    const changed = old.slice(0, shared).flatMap((each, i) => this.#compare(each, now[i] ?? true));
    const count = (n: number) => `${n} alternative${n === 1 ? '' : 's'} of ${keyword}`;
    return [
      ...changed,
      ...(old.length > shared
        ? [{ at: '', effect: 'narrowed' as const, what: `${count(old.length - shared)} removed` }]
        : []),
      ...(now.length > shared
        ? [{ at: '', effect: 'widened' as const, what: `${count(now.length - shared)} added` }]
        : []),
    ];
  }

  /** Returns both lists of schemas without the equal ones. */
  #unmatched(before: readonly Json[], after: readonly Json[]): [readonly Json[], readonly Json[]] {
    const left = [...after];
    const old = before.filter((each) => {
      const same = left.findIndex((other) => this.#compare(each, other).length === 0);
      if (same >= 0) left.splice(same, 1);
      return same < 0;
    });
    return [old, left];
  }
}

function whole(before: Json, after: Json): readonly Finding[] {
  if (isAnything(before) && isAnything(after)) return [];
  if (before === after) return [];
  if (isAnything(after) || before === false) return [{ at: '', effect: 'widened', what: 'admits more now' }];
  return [{ at: '', effect: 'narrowed', what: after === false ? 'admits nothing any more' : describe(after) }];
}

function describe(schema: Json): string {
  const type = isSchema(schema) ? schema['type'] : undefined;
  return type === undefined ? 'is checked now' : `must be ${JSON.stringify(type)} now`;
}

function below(step: string, findings: readonly Finding[]): readonly Finding[] {
  return step === '' ? findings : findings.map((each) => ({ ...each, at: step + each.at }));
}

function jsonOf(ref: SchemaRef | undefined): Json {
  return ref ? { $ref: ref.$ref } : true;
}

function isSchema(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isAnything(value: Json): boolean {
  return value === true || (isSchema(value) && Object.keys(value).length === 0);
}

function refOf(value: Json): string | undefined {
  const ref = isSchema(value) ? value['$ref'] : undefined;
  return typeof ref === 'string' ? ref : undefined;
}

/** Returns the target of a reference with its neighbours: both apply. */
function resolved(value: Json, table: Table): Json {
  const ref = refOf(value);
  if (ref === undefined || !isSchema(value)) return value;
  const target = table[ref.slice('gw:'.length)] ?? true;
  const { $ref: _, ...beside } = value;
  return Object.keys(beside).length === 0 ? target : { ...beside, allOf: [...listOf(beside['allOf']), target] };
}

function objectOf(value: Json | undefined): JsonObject {
  return isSchema(value) ? value : {};
}

/** Names such as `constructor` are data here. */
function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
