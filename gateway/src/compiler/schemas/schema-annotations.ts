/** Annotations of schemas: their descriptions of values besides the constraints. */
import type { Json, JsonObject } from '../../artifact/format.ts';
import { isObject, type Obj } from '../../spec/json.ts';

/**
 * Which annotations a schema keeps: none for validation, those for generating values (`examples`, `default`,
 * `writeOnly`), or all, for readers.
 */
export type Annotations = 'none' | 'examples' | 'all';

/** Kept unchanged if their value has the type that JSON Schema requires. */
const TOLD: Readonly<Record<string, string>> = {
  title: 'string',
  description: 'string',
  contentEncoding: 'string',
  contentMediaType: 'string',
  deprecated: 'boolean',
};

/** `normal` with annotations of `schema`: `example` and `examples` are one list. */
export function withAnnotations(schema: Obj, normal: Json, annotations: Annotations): Json {
  if (annotations === 'none' || !isObject(normal)) return normal;
  const { example, examples, default: value, writeOnly } = schema;
  const all = [...(example === undefined ? [] : [example]), ...(Array.isArray(examples) ? examples : [])];
  const annotated: JsonObject = {
    ...(annotations === 'all' ? told(schema) : {}),
    ...(normal as JsonObject),
    ...(all.length === 0 ? {} : { examples: all as Json[] }),
    ...(value === undefined ? {} : { default: value as Json }),
    ...(writeOnly === true ? { writeOnly } : {}),
  };
  return annotated;
}

function told(schema: Obj): JsonObject {
  const kept = Object.entries(TOLD).filter(([name, type]) => typeof schema[name] === type && schema[name] !== '');
  return Object.fromEntries(kept.map(([name]) => [name, schema[name] as Json]));
}
