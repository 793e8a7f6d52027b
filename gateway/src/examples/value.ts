/**
 * Values made from schemas (docs/reference/plugins.md#mock): in bounded steps, and the same for the same seed. Values
 * are valid by most schemas; callers that need validity check it, and ask for a value made by another strategy.
 */
import type { Json } from '../spec/json.ts';
import { arrayValue } from './array-value.ts';
import { Unmakeable, type ValueGenerator } from './generator.ts';
import { numberValue } from './number-value.ts';
import { objectValue } from './object-value.ts';
import { DEEP, type Parts, partsOf, typesOf } from './parts.ts';
import { stringValue } from './string-value.ts';

/** A value for which all these schemas hold. Throws Unmakeable. */
export function valueFor(schemas: readonly Json[], generator: ValueGenerator, depth = 0): Json {
  generator.step(depth);
  const parts = partsOf(schemas, generator, depth);
  const types = typesOf(parts);
  const given = givenValue(parts, types, generator);
  return given === undefined ? madeValue(typeFor(parts, types, generator, depth), parts, generator, depth) : given;
}

/** Returns a value that the schema itself names: `const`, `enum`, an example, a default. */
function givenValue(parts: Parts, types: readonly string[] | null, generator: ValueGenerator): Json | undefined {
  const constant = parts.find((part) => part['const'] !== undefined);
  if (constant !== undefined) return constant['const'] as Json;
  for (const { enum: list } of parts) if (Array.isArray(list)) generator.charge(list.length);
  const listed = enumOf(parts)?.filter((value) => admits(types, value));
  if (listed !== undefined) {
    if (listed.length === 0) throw new Unmakeable('no value of its list is valid');
    return generator.random.pick(listed);
  }
  const { examples } = generator.strategy;
  if (examples === 'none') return undefined;
  return examplesOf(parts).find(
    (value) => admits(types, value) && (examples === 'all' || typeof value !== 'object' || value === null),
  );
}

/** Returns values that are in the lists of all parts; undefined if no part has a list. */
function enumOf(parts: Parts): readonly Json[] | undefined {
  const lists = parts.flatMap((part) => (Array.isArray(part['enum']) ? [part['enum'] as readonly Json[]] : []));
  const [first, ...others] = lists;
  const texts = others.map((list) => new Set(list.map((value) => JSON.stringify(value))));
  return first?.filter((value) => texts.every((list) => list.has(JSON.stringify(value))));
}

function examplesOf(parts: Parts): readonly Json[] {
  const examples = parts.flatMap((part) => (Array.isArray(part['examples']) ? (part['examples'] as Json[]) : []));
  return [...examples, ...parts.flatMap((part) => (part['default'] === undefined ? [] : [part['default'] as Json]))];
}

function admits(types: readonly string[] | null, value: Json): boolean {
  if (types === null) return true;
  if (value === null) return types.includes('null');
  if (typeof value === 'number')
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value));
  return types.includes(Array.isArray(value) ? 'array' : typeof value);
}

/** Words of a schema that say of which type it speaks. */
const SPEAKS_OF: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties', 'propertyNames']],
  ['array', ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['pattern', 'format', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function typeFor(
  parts: Parts,
  types: readonly string[] | null,
  { strategy, random }: ValueGenerator,
  depth: number,
): string {
  if (types === null) {
    return (
      SPEAKS_OF.find(([, keywords]) => parts.some((part) => keywords.some((word) => word in part)))?.[0] ?? 'string'
    );
  }
  if (depth > DEEP && types.includes('null')) return 'null';
  const filled = types.filter((type) => type !== 'null');
  const among = filled.length > 0 ? filled : types;
  return (strategy.branches === 'first' ? among[0] : random.pick(among)) ?? 'null';
}

function madeValue(type: string, parts: Parts, generator: ValueGenerator, depth: number): Json {
  const make = (schemas: readonly Json[]) => valueFor(schemas, generator, depth + 1);
  switch (type) {
    case 'object':
      return objectValue(parts, generator, depth, make);
    case 'array':
      return arrayValue(parts, generator, depth, make);
    case 'string':
      return contentText(parts, generator, make) ?? stringValue(parts, generator);
    case 'integer':
    case 'number':
      return numberValue(parts, type === 'integer', generator);
    case 'boolean':
      return generator.random.below(2) === 0;
    default:
      return null;
  }
}

/** Returns JSON text that a schema of its content admits; null without such a schema. */
function contentText(parts: Parts, generator: ValueGenerator, make: (schemas: readonly Json[]) => Json): string | null {
  const schemas = parts.flatMap((part) => (part['contentSchema'] === undefined ? [] : [part['contentSchema'] as Json]));
  if (schemas.length === 0 || generator.strategy.text === 'pattern') return null;
  const text = JSON.stringify(make(schemas));
  // Each level of nested texts doubles the backslashes.
  generator.takeText(text.length);
  return text;
}
