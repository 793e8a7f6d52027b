/** What OpenAPI 3.0 says otherwise than JSON Schema 2020-12: `nullable`, and boolean exclusive bounds. */
import type { Json, JsonObject } from '../artifact/format.ts';
import type { Obj } from '../spec/json.ts';

/** `normal`: the keywords of `schema`, without boolean exclusive bounds. */
export function translate30(schema: Obj, normal: JsonObject): JsonObject {
  return nullable(schema, exclusive(schema, exclusive(schema, normal, 'minimum'), 'maximum'));
}

function exclusive(schema: Obj, normal: JsonObject, bound: 'minimum' | 'maximum'): JsonObject {
  const name = bound === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
  const { [bound]: limit, ...rest } = normal;
  return schema[name] === true && limit !== undefined ? { ...rest, [name]: limit } : normal;
}

/**
 * By the letter of 3.0.3 `nullable` adds null to a `type` beside it and does nothing else; but documents write it
 * beside `allOf` and beside enums without null, and mean that null is valid. So it is.
 */
function nullable(schema: Obj, normal: JsonObject): JsonObject {
  if (schema['nullable'] !== true) return normal;
  const { type, enum: values, ...rest } = normal;
  const combines = ['allOf', 'anyOf', 'oneOf', 'not'].some((name) => name in rest);
  if (combines) return { anyOf: [{ type: 'null' }, normal] };
  const types = withNull(type);
  return {
    ...rest,
    ...(types === undefined ? {} : { type: types }),
    ...(Array.isArray(values) ? { enum: values.includes(null) ? values : [...values, null] } : {}),
  };
}

function withNull(type: Json | undefined): Json | undefined {
  if (type === undefined) return undefined;
  const types: readonly Json[] = Array.isArray(type) ? type : [type as Json];
  return types.includes('null') ? types : [...types, 'null'];
}
