/**
 * Differences of other dialects from JSON Schema 2020-12. OpenAPI 3.0: `nullable`, and boolean exclusive bounds. Draft
 * 07, which AsyncAPI uses: lists under `items`, `additionalItems`, `dependencies`.
 */
import type { Json, JsonObject } from '../../artifact/format.ts';
import type { Located } from '../../spec/documents.ts';
import { isObject, type Obj } from '../../spec/json.ts';
import { WRITTEN, writtenText } from '../../validation/schemas/keyword-text.ts';

/** The members of a schema of draft 07, under the keywords that 2020-12 has for them. */
export function translate07(members: readonly [string, Located][], schema: Obj): readonly [string, Located][] {
  const isTuple = Array.isArray(schema['items']);
  return members.flatMap(([name, at]): [string, Located][] => {
    if (name === 'items' && Array.isArray(at.value)) return at.value.length > 0 ? [['prefixItems', at]] : [];
    if (name === 'additionalItems') return isTuple ? [['items', at]] : [];
    return name === 'dependencies' ? dependenciesOf(at) : [[name, at]];
  });
}

/** The members of a schema of 2020-12, with `dependencies` of older drafts unless its successors are there. */
export function withDependencies(members: readonly [string, Located][], schema: Obj): readonly [string, Located][] {
  if (!Object.hasOwn(schema, 'dependencies')) return members;
  if (Object.hasOwn(schema, 'dependentRequired') || Object.hasOwn(schema, 'dependentSchemas')) return members;
  return members.flatMap(([name, at]) => (name === 'dependencies' ? dependenciesOf(at) : [[name, at]]));
}

function dependenciesOf(at: Located): [string, Located][] {
  if (!isObject(at.value)) return [['dependencies', at]];
  return [
    ['dependentRequired', { ...at, value: part(at.value, Array.isArray) }],
    ['dependentSchemas', { ...at, value: part(at.value, (value) => !Array.isArray(value)) }],
  ];
}

function part(object: Obj, belongs: (value: unknown) => boolean): Obj {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => belongs(value)));
}

/** `normal`: the keywords of `schema`, without boolean exclusive bounds. */
export function translate30(schema: Obj, normal: JsonObject): JsonObject {
  return nullable(schema, withExclusiveBounds(schema, normal));
}

/** `normal` with bounds that `schema` makes exclusive by booleans, as drafts before 6 do. */
export function withExclusiveBounds(schema: Obj, normal: JsonObject): JsonObject {
  return exclusive(schema, exclusive(schema, normal, 'minimum'), 'maximum');
}

function exclusive(schema: Obj, normal: JsonObject, bound: 'minimum' | 'maximum'): JsonObject {
  const name = bound === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
  const { [bound]: limit, ...rest } = normal;
  if (schema[name] !== true || limit === undefined) return normal;
  return withText({ ...rest, [name]: limit }, name, writtenText(normal, bound));
}

/**
 * By the letter of 3.0.3 `nullable` only adds null to a `type` beside it; but documents write it beside `allOf` and
 * beside enums without null, and mean that null is valid. That meaning applies.
 */
function nullable(schema: Obj, normal: JsonObject): JsonObject {
  if (schema['nullable'] !== true) return normal;
  const { type, enum: values, ...rest } = normal;
  const combines = ['allOf', 'anyOf', 'oneOf', 'not'].some((name) => name in rest);
  if (combines) return { anyOf: [{ type: 'null' }, normal] };
  const types = withNull(type);
  const adds = Array.isArray(values) && !values.includes(null);
  const nullableSchema = {
    ...rest,
    ...(types === undefined ? {} : { type: types }),
    ...(Array.isArray(values) ? { enum: adds ? [...values, null] : values } : {}),
  };
  const text = writtenText(normal, 'enum');
  return withText(nullableSchema, 'enum', adds ? text?.replace(/\]$/, ',null]') : text);
}

/** `text`: the keyword as the document has written it. */
function withText(schema: JsonObject, keyword: string, text: string | undefined): JsonObject {
  const known = schema[WRITTEN];
  return text === undefined ? schema : { ...schema, [WRITTEN]: { ...(isObject(known) ? known : {}), [keyword]: text } };
}

function withNull(type: Json | undefined): Json | undefined {
  if (type === undefined) return undefined;
  const types: readonly Json[] = Array.isArray(type) ? type : [type as Json];
  return types.includes('null') ? types : [...types, 'null'];
}
