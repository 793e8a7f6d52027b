/**
 * Rewrites schemas of objects with very many properties, so that Ajv can compile them: its code nests a block for each
 * property, and some 1,500 exhaust the stack.
 */
import type { Json } from '../../artifact/format.ts';
import { isList, isObject } from '../../spec/json.ts';

/** Properties in one block of code. */
const MOST = 400;
/** Keywords with values that are not schemas. */
export const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'examples', 'default']);

/**
 * Returns the same schema, with its properties split over several schemas under `allOf` if there are too many for one.
 */
export function withoutWideObjects(schema: Json): Json {
  if (isList(schema)) return schema.map(withoutWideObjects);
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema as { readonly [name: string]: Json }).map(
    ([name, value]) => [name, DATA.has(name) ? value : withoutWideObjects(value)] as const,
  );
  const read: { readonly [name: string]: Json } = Object.fromEntries(members);
  const { properties } = read;
  const all = isObject(properties) ? Object.entries(properties as { readonly [name: string]: Json }) : [];
  if (all.length <= MOST) return read;
  const { allOf } = read;
  const parts = Array.from({ length: Math.ceil(all.length / MOST) }, (_, i) => ({
    properties: Object.fromEntries(all.slice(i * MOST, (i + 1) * MOST)),
  }));
  return {
    ...read,
    // `additionalProperties` depends on these names.
    properties: Object.fromEntries(all.map(([name]) => [name, true])),
    allOf: [...(isList(allOf) ? allOf : []), ...parts],
  };
}
