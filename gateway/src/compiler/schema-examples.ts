/** What schemas say of the values that fit them, beside what they demand: values are made by it. */
import type { Json, JsonObject } from '../artifact/format.ts';
import { isObject, type Obj } from '../spec/json.ts';

/** `normal` with the annotations of `schema`: `example` and `examples` as one list, `default`, `writeOnly`. */
export function withExamples(schema: Obj, normal: Json): Json {
  if (!isObject(normal)) return normal;
  const { example, examples, default: value, writeOnly } = schema;
  const all = [...(example === undefined ? [] : [example]), ...(Array.isArray(examples) ? examples : [])];
  const annotated: JsonObject = {
    ...(normal as JsonObject),
    ...(all.length === 0 ? {} : { examples: all as Json[] }),
    ...(value === undefined ? {} : { default: value as Json }),
    ...(writeOnly === true ? { writeOnly } : {}),
  };
  return annotated;
}
