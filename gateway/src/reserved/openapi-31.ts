/** An OpenAPI 3.0 document with its schemas as 3.1 has them, so that it can stand in one document with others. Pure. */
import type { JsonObject } from '../artifact/format.ts';
import { translate30 } from '../compiler/schemas/schema-dialect.ts';
import { isObject, type Obj } from '../spec/json.ts';
import { isData, isNameMap } from './spec-members.ts';

/** Keywords of 3.0 with a schema, a list of them, or a map of them; `additionalProperties` may be a boolean. */
const SCHEMA = new Set(['items', 'additionalProperties', 'not']);
const SCHEMAS = new Set(['allOf', 'anyOf', 'oneOf']);
/** 3.0 ignores all members beside `$ref` (its section "Reference Object"); in 3.1 these would have a meaning. */
const ANNOTATIONS = new Set(['$ref', 'title', 'description', 'summary', 'deprecated', 'externalDocs']);

export function schemasOf31(document: Obj): Obj {
  return upgraded(document, false) as Obj;
}

function upgraded(value: unknown, names: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => upgraded(each, false));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (names) return [key, upgraded(each, false)];
      if (isData(key)) return [key, each];
      if (key === 'schema') return [key, schema31(each)];
      if (key === 'schemas') return [key, mapOf(each)];
      return [key, upgraded(each, isNameMap(key, each))];
    }),
  );
}

function mapOf(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, schema31(each)]));
}

function schema31(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  if (typeof schema['$ref'] === 'string') {
    return Object.fromEntries(Object.entries(schema).filter(([key]) => ANNOTATIONS.has(key)));
  }
  const { nullable: _, ...rest } = schema;
  const members = Object.entries(rest).filter(([key, value]) => !(BOUNDS.has(key) && typeof value === 'boolean'));
  const normal = Object.fromEntries(members.map(([key, value]) => [key, member(key, value)]));
  return translate30(schema, normal as JsonObject);
}

const BOUNDS = new Set(['exclusiveMinimum', 'exclusiveMaximum']);

function member(key: string, value: unknown): unknown {
  if (SCHEMA.has(key)) return schema31(value);
  if (SCHEMAS.has(key) && Array.isArray(value)) return value.map(schema31);
  return key === 'properties' ? mapOf(value) : value;
}
