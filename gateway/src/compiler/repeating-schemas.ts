/**
 * Schemas that refer to themselves by several ways that apply to one value, such as two branches of a union with the
 * same `items` (E1079). Each level of a value then goes through the levels below it several times, so that a value of
 * 20 levels can take a million steps.
 */
import type { Json, JsonObject } from '../artifact/format.ts';
import type { Diagnostics } from '../spec/diagnostic.ts';
import { type Located, placeOf } from '../spec/documents.ts';
import { isList, isObject } from '../spec/json.ts';
import { collectRefs, PREFIX } from '../validation/compile-time.ts';

type Table = { readonly [id: string]: Json };

/** Keywords whose schemas apply to the same value. */
const IN_PLACE: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else']);
const MEMBERS = ['additionalProperties', 'unevaluatedProperties', 'patternProperties', 'propertyNames'];
const ITEMS = ['items', 'prefixItems', 'contains', 'unevaluatedItems'];
/** Schemas that apply to one value and are compared with each other; the rest is not looked at. */
const MOST_PARTS = 200;

/** Warns of each schema of the table that repeats itself; `placeOfId` returns its place. */
export function warnOfRepeats(
  table: Table,
  placeOfId: (id: string) => Located | undefined,
  diagnostics: Diagnostics,
): void {
  const seen = new Set<string>();
  for (const circle of circlesOf(table)) {
    for (const id of circle) {
      const at = placeOfId(id);
      const key = at && `${at.document.file}\0${at.pointer}`;
      if (!at || key === undefined || seen.has(key)) continue;
      const way = repeatedWay(table[id] ?? true, table, circle);
      if (way === null) continue;
      seen.add(key);
      const within = way === ITEM ? 'their items' : way === MEMBER ? 'their members' : `"${way}"`;
      const what = `several branches apply to one value and go through ${within} to the schema again`;
      diagnostics.add('E1079', placeOf(at), `${what}: deeply nested values are validated in a helper process`);
    }
  }
}

/** Names of steps into unnamed parts. */
const [ITEM, MEMBER] = ['\0items', '\0members'];

/** A schema that applies to a value, and all that hold for the value then. */
interface Part {
  readonly schema: JsonObject;
  readonly given: readonly JsonObject[];
}

/** Returns the step by which two schemas that may both apply to one value lead to the circle, or null. */
function repeatedWay(schema: Json, table: Table, circle: ReadonlySet<string>): string | null {
  const parts = partsOf(schema, table, { given: [], seen: new Set() }).slice(0, MOST_PARTS);
  const ways = parts.map(({ schema: part }) => waysOf(part, table, circle));
  for (const [i, part] of parts.entries()) {
    for (let k = 0; k < i; k++) {
      const common = [...(ways[i] ?? [])].find((way) => ways[k]?.has(way));
      if (common !== undefined && !areExclusive(part, parts[k] ?? part)) return common;
    }
  }
  return null;
}

interface Above {
  readonly given: readonly JsonObject[];
  /** References that were followed. */
  readonly seen: ReadonlySet<string>;
}

/** Returns a schema and all that apply to the same value. */
function partsOf(schema: Json, table: Table, { given, seen }: Above): Part[] {
  if (!isObject(schema)) return [];
  const own = schema as JsonObject;
  const holding = [...given, ...conjunctsOf(own, table, seen)];
  const parts: Part[] = [{ schema: own, given: holding }];
  const { $ref, if: condition } = own;
  if (typeof $ref === 'string' && !seen.has($ref)) {
    parts.push(...partsOf(table[idOf($ref)] ?? true, table, { given: holding, seen: new Set(seen).add($ref) }));
  }
  for (const [keyword, inner] of Object.entries(own)) {
    if (!IN_PLACE.has(keyword) || parts.length > MOST_PARTS) continue;
    const guards = keyword === 'then' && isObject(condition) ? [...holding, condition as JsonObject] : holding;
    for (const each of isList(inner) ? inner : [inner]) parts.push(...partsOf(each, table, { given: guards, seen }));
  }
  return parts;
}

/** Returns the schemas that all apply together with this one: itself, its `$ref` target, branches of `allOf`. */
function conjunctsOf(schema: Json, table: Table, seen: ReadonlySet<string>): JsonObject[] {
  if (!isObject(schema)) return [];
  const own = schema as JsonObject;
  const { $ref, allOf } = own;
  const target = typeof $ref === 'string' && !seen.has($ref) ? table[idOf($ref)] : undefined;
  return [
    own,
    ...(target === undefined ? [] : conjunctsOf(target, table, new Set(seen).add(String($ref)))),
    ...(isList(allOf) ? allOf.flatMap((each) => conjunctsOf(each, table, seen)) : []),
  ];
}

/** Returns names of properties, and marks of items and other members, that lead to the circle. */
function waysOf(schema: JsonObject, table: Table, circle: ReadonlySet<string>): ReadonlySet<string> {
  const leads = (inner: Json | undefined) => inner !== undefined && reaches(inner, table, circle);
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties'] as JsonObject) : [];
  return new Set([
    ...properties.filter(([, inner]) => leads(inner)).map(([name]) => name),
    ...(ITEMS.some((keyword) => leads(schema[keyword])) ? [ITEM] : []),
    ...(MEMBERS.some((keyword) => leads(schema[keyword])) ? [MEMBER] : []),
  ]);
}

function reaches(schema: Json, table: Table, circle: ReadonlySet<string>): boolean {
  const refs: string[] = [];
  collectRefs(schema, refs);
  const seen = new Set<string>();
  for (let ref = refs.pop(); ref !== undefined; ref = refs.pop()) {
    const id = idOf(ref);
    if (circle.has(id)) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    collectRefs(table[id] ?? true, refs);
  }
  return false;
}

/** Reports whether cheap checks rule out that a value fits both: types, and values of a required property. */
function areExclusive(one: Part, other: Part): boolean {
  return one.given.some((mine) => other.given.some((theirs) => mine !== theirs && exclude(mine, theirs)));
}

function exclude(one: JsonObject, other: JsonObject): boolean {
  const [types, others] = [typesOf(one), typesOf(other)];
  if (types && others && !types.some((type) => others.includes(type))) return true;
  const [mine, theirs] = [propertiesOf(one), propertiesOf(other)];
  const required = new Set([...namesOf(one['required']), ...namesOf(other['required'])]);
  for (const name of required) {
    const [values, otherValues] = [valuesOf(mine[name]), valuesOf(theirs[name])];
    if (values && otherValues && !values.some((value) => otherValues.includes(value))) return true;
    if (isClosedTo(name, one, mine) || isClosedTo(name, other, theirs)) return true;
  }
  return false;
}

function isClosedTo(name: string, schema: JsonObject, properties: JsonObject): boolean {
  const isOpen = schema['additionalProperties'] !== false || schema['patternProperties'] !== undefined;
  return !isOpen && !Object.hasOwn(properties, name);
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? (properties as JsonObject) : {};
}

function namesOf(required: Json | undefined): readonly string[] {
  return isList(required) ? required.filter((each) => typeof each === 'string') : [];
}

function typesOf({ type }: JsonObject): readonly Json[] | null {
  return isList(type) ? type : type === undefined ? null : [type];
}

/** Returns texts of the only values that a schema admits, or null. */
function valuesOf(schema: Json | undefined): readonly string[] | null {
  if (!isObject(schema)) return null;
  const { const: constant, enum: values } = schema as JsonObject;
  if (constant !== undefined) return [JSON.stringify(constant)];
  return isList(values) ? values.map((value) => JSON.stringify(value)) : null;
}

function idOf(ref: string): string {
  return ref.slice(PREFIX.length).split('#')[0] ?? '';
}

/** Returns the groups of schemas of which each refers to each, by whatever way (Tarjan's strongly connected components). */
function circlesOf(table: Table): ReadonlySet<string>[] {
  const circles: ReadonlySet<string>[] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
  const refsOf = (id: string) => {
    const refs: string[] = [];
    collectRefs(table[id] ?? true, refs);
    return refs.map(idOf);
  };
  interface Visit {
    readonly id: string;
    readonly refs: readonly string[];
    next: number;
  }
  const enter = (id: string): Visit => {
    order.set(id, order.size);
    lowest.set(id, order.size - 1);
    stack.push(id);
    open.add(id);
    return { id, refs: refsOf(id), next: 0 };
  };
  const lower = (id: string, to: number) => lowest.set(id, Math.min(lowest.get(id) ?? to, to));
  for (const root of Object.keys(table)) {
    if (order.has(root)) continue;
    const visits = [enter(root)];
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const ref = visit.refs[visit.next++];
      if (ref !== undefined) {
        if (!order.has(ref)) visits.push(enter(ref));
        else if (open.has(ref)) lower(visit.id, order.get(ref) ?? 0);
        continue;
      }
      visits.pop();
      const { id, refs } = visit;
      const outer = visits.at(-1);
      if (outer) lower(outer.id, lowest.get(id) ?? 0);
      if (lowest.get(id) !== order.get(id)) continue;
      const circle = new Set(stack.splice(stack.indexOf(id)));
      for (const each of circle) open.delete(each);
      if (circle.size > 1 || refs.includes(id)) circles.push(circle);
    }
  }
  return circles;
}
