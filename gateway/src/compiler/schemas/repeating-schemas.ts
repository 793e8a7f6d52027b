/**
 * Schemas that refer to themselves by several ways that apply to one value, such as two branches of a union with the
 * same `items` (E1079). Each level of a value then goes through the levels below it several times, so that a value of
 * 20 levels can take a million steps.
 */
import type { Json, JsonObject } from '../../artifact/format.ts';
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { type Located, placeOf } from '../../spec/documents.ts';
import { isList, isObject } from '../../spec/json.ts';
import { collectRefs, PREFIX } from '../../validation/schemas/compile-time.ts';

type Table = { readonly [id: string]: Json };
type Circle = ReadonlySet<string>;

/** Keywords whose schemas apply to the same value. */
const IN_PLACE: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else']);
const MEMBERS = ['additionalProperties', 'unevaluatedProperties', 'patternProperties', 'propertyNames'];
const ITEMS = ['items', 'prefixItems', 'contains', 'unevaluatedItems'];
/** Steps for one schema, and for all: documents of strangers may have any shape. Nothing is said of what takes more. */
const [MOST_STEPS, MOST_STEPS_IN_ALL] = [20_000, 1_000_000];
/** Levels of schemas that apply to the same value. */
const MOST_LEVELS = 50;

class TooManySteps extends Error {}

/** Warns of each schema of the table that repeats itself; `placeOfId` returns its place. */
export function warnOfRepeats(
  table: Table,
  placeOfId: (id: string) => Located | undefined,
  diagnostics: Diagnostics,
): void {
  const references = new References();
  const seen = new Set<string>();
  let left = MOST_STEPS_IN_ALL;
  for (const circle of circlesOf(table, references)) {
    const search = new Search(table, references, circle);
    for (const id of circle) {
      if (left <= 0) return;
      const at = placeOfId(id);
      const key = at && `${at.document.file}\0${at.pointer}`;
      if (!at || key === undefined || seen.has(key)) continue;
      const { way, steps } = search.repeatedWay(table[id] ?? true);
      left -= steps;
      if (way === null) continue;
      seen.add(key);
      const within = way === ITEM ? 'their items' : way === MEMBER ? 'their members' : `"${way}"`;
      const what = `several branches apply to one value and go through ${within} to the schema again`;
      diagnostics.add('E1079', placeOf(at), `${what}: deeply nested values are validated in a helper process`);
    }
  }
}

/** Ids that schemas refer to. Each schema is read once. */
class References {
  readonly #known = new WeakMap<object, readonly string[]>();

  in(schema: Json | undefined): readonly string[] {
    if (typeof schema !== 'object' || schema === null) return [];
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    const refs: string[] = [];
    collectRefs(schema, refs);
    const ids = refs.map(idOf);
    this.#known.set(schema, ids);
    return ids;
  }
}

/** Names of steps into unnamed parts. */
const [ITEM, MEMBER] = ['\0items', '\0members'];

/** Schemas that hold for a value together: `own`, and those of the levels above. */
interface Level {
  readonly own: readonly JsonObject[];
  readonly above: Level | null;
  readonly depth: number;
}

/** A schema that applies to a value, and all that hold for the value then. */
interface Part {
  readonly schema: JsonObject;
  readonly level: Level;
}

/** Judges the schemas of one circle. */
class Search {
  readonly #table: Table;
  readonly #references: References;
  readonly #circle: Circle;
  /** Whether schemas outside the circle lead into it, by id. */
  readonly #leads = new Map<string, boolean>();
  #left = 0;

  constructor(table: Table, references: References, circle: Circle) {
    this.#table = table;
    this.#references = references;
    this.#circle = circle;
  }

  /** `way`: the step by which two schemas that may both apply to one value lead to the circle, or null. */
  repeatedWay(schema: Json): { readonly way: string | null; readonly steps: number } {
    this.#left = MOST_STEPS;
    let way: string | null = null;
    try {
      way = this.#commonWay(schema);
    } catch (error) {
      if (!(error instanceof TooManySteps)) throw error;
    }
    return { way, steps: MOST_STEPS - this.#left };
  }

  #spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooManySteps();
  }

  #commonWay(schema: Json): string | null {
    const parts: Part[] = [];
    this.#addParts(schema, null, new Set(), parts);
    const known: { readonly level: Level; readonly ways: ReadonlySet<string> }[] = [];
    for (const { schema: part, level } of parts) {
      const ways = this.#waysOf(part);
      for (const other of ways.size === 0 ? [] : known) {
        this.#spend();
        const common = [...ways].find((way) => other.ways.has(way));
        if (common !== undefined && !this.#areExclusive(level, other.level)) return common;
      }
      if (ways.size > 0) known.push({ level, ways });
    }
    return null;
  }

  /** Adds a schema and all that apply to the same value. `refs`: references that were followed. */
  #addParts(schema: Json, above: Level | null, refs: ReadonlySet<string>, parts: Part[]): void {
    if (!isObject(schema)) return;
    this.#spend();
    const depth = (above?.depth ?? 0) + 1;
    if (depth > MOST_LEVELS) throw new TooManySteps();
    const own = schema as JsonObject;
    const conjuncts: JsonObject[] = [];
    this.#addConjuncts(own, refs, conjuncts);
    const level: Level = { own: conjuncts, above, depth };
    parts.push({ schema: own, level });
    const { $ref, if: condition } = own;
    if (typeof $ref === 'string' && !refs.has($ref)) {
      this.#addParts(this.#table[idOf($ref)] ?? true, level, new Set(refs).add($ref), parts);
    }
    for (const [keyword, inner] of Object.entries(own)) {
      if (!IN_PLACE.has(keyword)) continue;
      const guard = keyword === 'then' && isObject(condition) ? [condition as JsonObject] : [];
      const within = guard.length === 0 ? level : { own: guard, above: level, depth };
      for (const each of isList(inner) ? inner : [inner]) this.#addParts(each, within, refs, parts);
    }
  }

  /** Adds the schemas that all apply together with this one: itself, its `$ref` target, branches of `allOf`. */
  #addConjuncts(schema: Json, refs: ReadonlySet<string>, found: JsonObject[]): void {
    if (!isObject(schema)) return;
    this.#spend();
    if (refs.size > MOST_LEVELS) throw new TooManySteps();
    const own = schema as JsonObject;
    found.push(own);
    const { $ref, allOf } = own;
    if (typeof $ref === 'string' && !refs.has($ref)) {
      this.#addConjuncts(this.#table[idOf($ref)] ?? true, new Set(refs).add($ref), found);
    }
    for (const each of isList(allOf) ? allOf : []) this.#addConjuncts(each, refs, found);
  }

  /** Returns names of properties, and marks of items and other members, that lead to the circle. */
  #waysOf(schema: JsonObject): ReadonlySet<string> {
    const isWay = (inner: Json | undefined) => this.#references.in(inner).some((id) => this.#isLeading(id));
    const properties = Object.entries(propertiesOf(schema));
    return new Set([
      ...properties.filter(([, inner]) => isWay(inner)).map(([name]) => name),
      ...(ITEMS.some((keyword) => isWay(schema[keyword])) ? [ITEM] : []),
      ...(MEMBERS.some((keyword) => isWay(schema[keyword])) ? [MEMBER] : []),
    ]);
  }

  /** Reports whether a schema is of the circle, or refers to it by way of others. */
  #isLeading(id: string): boolean {
    this.#spend();
    const known = this.#leads.get(id);
    if (known !== undefined) return known;
    const seen = new Set([id]);
    // A set is visited in the order in which it grows.
    for (const each of seen) {
      this.#spend();
      if (this.#circle.has(each)) {
        this.#leads.set(id, true);
        return true;
      }
      for (const ref of this.#references.in(this.#table[each])) seen.add(ref);
    }
    for (const each of seen) this.#leads.set(each, false);
    return false;
  }

  /** Reports whether cheap checks rule out that a value fits both: types, and values of a required property. */
  #areExclusive(one: Level, other: Level): boolean {
    for (let mine: Level | null = one; mine !== null; mine = mine.above) {
      for (let theirs: Level | null = other; theirs !== null; theirs = theirs.above) {
        for (const each of mine.own) {
          for (const against of theirs.own) {
            this.#spend();
            if (each !== against && this.#exclude(each, against)) return true;
          }
        }
      }
    }
    return false;
  }

  #exclude(one: JsonObject, other: JsonObject): boolean {
    const [types, others] = [typesOf(one), typesOf(other)];
    if (types && others && !types.some((type) => others.includes(type))) return true;
    const [mine, theirs] = [propertiesOf(one), propertiesOf(other)];
    const required = new Set([...namesOf(one['required']), ...namesOf(other['required'])]);
    for (const name of required) {
      const [values, otherValues] = [valuesOf(mine[name]), valuesOf(theirs[name])];
      this.#spend(1 + (values?.size ?? 0) + (otherValues?.size ?? 0));
      if (values && otherValues && values.isDisjointFrom(otherValues)) return true;
      if (isClosedTo(name, one, mine) || isClosedTo(name, other, theirs)) return true;
    }
    return false;
  }
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
function valuesOf(schema: Json | undefined): ReadonlySet<string> | null {
  if (!isObject(schema)) return null;
  const { const: constant, enum: values } = schema as JsonObject;
  if (constant !== undefined) return new Set([JSON.stringify(constant)]);
  return isList(values) ? new Set(values.map((value) => JSON.stringify(value))) : null;
}

function idOf(ref: string): string {
  return ref.slice(PREFIX.length).split('#')[0] ?? '';
}

/** Returns the groups of schemas of which each refers to each, by whatever way (Tarjan's strongly connected components). */
function circlesOf(table: Table, references: References): readonly Circle[] {
  const circles: Circle[] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
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
    return { id, refs: references.in(table[id]), next: 0 };
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
      const circle = new Set(stack.splice(stack.lastIndexOf(id)));
      for (const each of circle) open.delete(each);
      if (circle.size > 1 || refs.includes(id)) circles.push(circle);
    }
  }
  return circles;
}
