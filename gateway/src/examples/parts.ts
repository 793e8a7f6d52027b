/**
 * A schema as the parts that all hold for a value: `$ref` followed, `allOf` laid out, one branch of each choice taken.
 */
import { get, isObject, type Json, type Obj } from '../spec/json.ts';
import { Unmakeable, type ValueGenerator } from './generator.ts';

export type Parts = readonly Obj[];

/** Throws Unmakeable if no value is valid. */
export function partsOf(schemas: readonly Json[], generator: ValueGenerator, depth: number): Parts {
  const parts: Obj[] = [];
  const waiting = [...schemas];
  const seen = new Set<Json>();
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    generator.step(depth);
    if (next === false) throw new Unmakeable('nothing is valid');
    if (!isObject(next) || seen.has(next)) continue;
    seen.add(next);
    parts.push(next);
    waiting.push(...including(next, generator, depth));
  }
  return parts;
}

/** Returns the schemas that apply together with this one. */
function including(part: Obj, generator: ValueGenerator, depth: number): Json[] {
  const { $ref: ref, allOf } = part;
  const others: Json[] = typeof ref === 'string' ? [generator.resolve(ref)] : [];
  const choices = ['oneOf', 'anyOf'].flatMap((keyword) => (Array.isArray(part[keyword]) ? [part[keyword]] : []));
  const chosen = choices.map((branches) => branchOf(branches, part, generator, depth));
  const passedOver = new Set(choices.flat().map(refOf));
  passedOver.delete(undefined);
  for (const branch of chosen) passedOver.delete(refOf(branch));
  others.push(...chosen);
  for (const each of Array.isArray(allOf) ? allOf : []) {
    if (!passedOver.has(refOf(get(each, 'then'))))
      others.push(...(isChosen(each, chosen) ? [each.if, each.then] : [each]));
  }
  if (part['if'] !== undefined) others.push(...conditional(part, generator));
  return others;
}

/** Returns undefined if it is not a reference. */
const refOf = (schema: unknown) => get(schema, '$ref');

/** Reports whether the schema is a compiled discriminator's: if the property has this value, this branch applies. */
function isChosen(schema: Json, chosen: readonly Json[]): schema is { readonly if: Json; readonly then: Json } {
  const ref = refOf(get(schema, 'then'));
  return ref !== undefined && get(schema, 'if') !== undefined && chosen.some((branch) => refOf(branch) === ref);
}

function branchOf(branches: readonly Json[], part: Obj, generator: ValueGenerator, depth: number): Json {
  const end = depth > DEEP ? branches.find(isNull) : undefined;
  if (end !== undefined) return end;
  const fits = branches.filter((branch) => branch !== false && !isNull(branch) && mayHaveType(branch, part));
  const among = fits.length > 0 ? fits : branches;
  return (generator.strategy.branches === 'first' ? among[0] : generator.random.pick(among)) ?? true;
}

/** Depth from which null is preferred to a value that holds others. */
export const DEEP = 8;

const isNull = (branch: Json) => get(branch, 'type') === 'null';

function mayHaveType(branch: Json, part: Obj): boolean {
  const [own, outer] = [typesIn(branch), typesIn(part)];
  return own === null || outer === null || own.some((type) => outer.includes(type));
}

function conditional(part: Obj, { strategy }: ValueGenerator): Json[] {
  const [condition, consequence, otherwise] = [part['if'], part['then'], part['else']] as (Json | undefined)[];
  if (strategy.conditions === 'ignored') return [];
  return strategy.conditions === 'met' ? [condition ?? true, consequence ?? true] : [otherwise ?? true];
}

const NUMBERS: ReadonlySet<string> = new Set(['number', 'integer']);

/** Returns null if any will do. */
function typesIn(schema: Json | Obj): readonly string[] | null {
  const type = get(schema, 'type');
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.filter((each) => typeof each === 'string') : null;
}

/**
 * Returns types that all parts admit, in the order of the first; null if no part names any. Throws Unmakeable if no
 * type remains.
 */
export function typesOf(parts: Parts): readonly string[] | null {
  let left: readonly string[] | null = null;
  for (const part of parts) {
    const types = typesIn(part);
    if (types === null) continue;
    left = left === null ? types : both(left, types);
  }
  if (left?.length === 0) throw new Unmakeable('no type is valid');
  return left;
}

function both(a: readonly string[], b: readonly string[]): readonly string[] {
  const types = a.filter((type) => b.includes(type));
  const isWhole = [a, b].some((each) => each.includes('integer') && !each.includes('number'));
  const numeric = [a, b].every((each) => each.some((type) => NUMBERS.has(type)));
  return numeric && isWhole ? [...new Set([...types.filter((type) => !NUMBERS.has(type)), 'integer'])] : types;
}

/** Numbers of this keyword in all parts. */
export function numbersOf(parts: Parts, keyword: string): readonly number[] {
  return parts.flatMap((part) => (typeof part[keyword] === 'number' ? [part[keyword]] : []));
}

/** Returns the largest lower bound, by default 0. */
export function atLeast(parts: Parts, keyword: string): number {
  return Math.max(0, ...numbersOf(parts, keyword));
}

/** Returns the smallest upper bound, by default Infinity. */
export function atMost(parts: Parts, keyword: string): number {
  return Math.min(Number.POSITIVE_INFINITY, ...numbersOf(parts, keyword));
}

export function textsOf(parts: Parts, keyword: string): readonly string[] {
  return parts.flatMap((part) => (typeof part[keyword] === 'string' ? [part[keyword]] : []));
}

/** Schemas of this keyword in all parts. */
export function schemasOf(parts: Parts, keyword: string): readonly Json[] {
  return parts.flatMap((part) => (part[keyword] === undefined ? [] : [part[keyword] as Json]));
}
