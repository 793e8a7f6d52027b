/** Arguments that people type, as the tool's input schema wants them (docs/mcp.md#call). */
import { parseExactly } from '../json/exact-json.ts';
import { get, isObject, type Obj } from '../spec/json.ts';
import { valueAt } from '../spec/pointer.ts';
import { nearestNames } from '../text/nearest-name.ts';

export type GivenArgument = readonly [name: string, text: string];

/** Types that a schema allows; empty if it does not say. */
export type Types = ReadonlySet<string>;

/** `schema`: of all arguments of the tool; undefined if unknown. Throws an Error that names the argument. */
export function argumentsOf(given: readonly GivenArgument[], schema: unknown): Obj {
  const texts = Map.groupBy(given, ([name]) => name);
  return Object.fromEntries(
    [...texts].map(([name, all]) => {
      const values = all.map(([, text]) => text);
      return [name, argumentValue(name, values, schema)];
    }),
  );
}

function argumentValue(name: string, texts: readonly string[], schema: unknown): unknown {
  const properties = get(schema, 'properties');
  const own = get(properties, name);
  if (own === undefined && get(schema, 'additionalProperties') === false) throw unknownArgument(name, properties);
  const variants = variantsOf(own, schema);
  const types = typesOf(variants);
  const [text = ''] = texts;
  if (types.has('array') && !types.has('string') && (texts.length > 1 || !text.startsWith('['))) {
    const items = variants.map((each) => get(each, 'items')).find((each) => each !== undefined);
    const itemTypes = typesOf(variantsOf(items, schema));
    return texts.map((each) => typed(name, each, itemTypes));
  }
  if (texts.length > 1) throw new Error(`argument "${name}" takes one value, but ${texts.length} are given`);
  return typed(name, text, types);
}

/** If a text is allowed, it is taken unchanged. */
function typed(name: string, text: string, types: Types): unknown {
  if (types.has('string')) return text;
  const wanted = [...types].join(' or ');
  const mismatch = () => new Error(`argument "${name}" must be of type ${wanted}, not ${JSON.stringify(text)}`);
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch {
    if (types.size === 0) return text;
    throw mismatch();
  }
  if (types.size > 0 && !typesOfText(value, text).some((type) => types.has(type))) throw mismatch();
  return value;
}

/** `text`: a number that JavaScript cannot hold is kept as it was written, and is an object then. */
function typesOfText(value: unknown, text: string): readonly string[] {
  return /^\s*-?\d/.test(text) ? ['number', 'integer'] : [typeOf(value)];
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function unknownArgument(name: string, properties: unknown): Error {
  const names = Object.keys(isObject(properties) ? properties : {});
  const near = nearestNames(name, names);
  if (names.length === 0) return new Error(`there is no argument "${name}": the tool takes none`);
  return new Error(
    `there is no argument "${name}": ${near.length > 0 ? `did you mean ${near.join(', ')}?` : `the tool takes ${names.join(', ')}`}`,
  );
}

export function typesOf(variants: readonly unknown[]): Types {
  return new Set(
    variants.flatMap((each) => {
      const type = get(each, 'type');
      if (type !== undefined) return [type].flat().filter((one) => typeof one === 'string');
      const values = get(each, 'enum');
      if (Array.isArray(values)) return values.map(typeOf);
      return get(each, 'const') === undefined ? [] : [typeOf(get(each, 'const'))];
    }),
  );
}

/** Returns the schema, its references, and their alternatives: each once, since a server's schemas may be circular. */
export function variantsOf(schema: unknown, root: unknown): readonly unknown[] {
  const found = new Set<unknown>();
  const left = [schema];
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    if (!isObject(each) || found.has(each)) continue;
    found.add(each);
    const ref = get(each, '$ref');
    if (typeof ref === 'string' && ref.startsWith('#')) left.push(valueAt(root, ref.slice(1)));
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) left.push(...[get(each, keyword) ?? []].flat());
  }
  return [...found];
}
