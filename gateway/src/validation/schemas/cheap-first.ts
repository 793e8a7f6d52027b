/**
 * Puts the properties of a schema that cost little to check (`const`, `enum`, `type` and the like) before the others.
 * Branches of a union often differ in one of them, such as `op`: the wrong branch then ends before it visits the rest.
 * Tables of schemas are sorted by name, so the order of the document is not known here.
 */
import type { Json, RoutesFile } from '../../artifact/format.ts';
import { isList, isObject } from '../../spec/json.ts';
import { PREFIX } from './compile-time.ts';
import { isLight } from './validation-steps.ts';
import { DATA } from './wide-objects.ts';

type Table = RoutesFile['schemas'];

/** Returns the same schema in that order; `table` has the targets of its references. */
export function withCheapFirst(schema: Json, table: Table): Json {
  if (isList(schema)) return schema.map((each) => withCheapFirst(each, table));
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema as { readonly [name: string]: Json }).map(([name, value]) => {
    if (DATA.has(name)) return [name, value] as const;
    const inner = withCheapFirst(value, table);
    // A property of this name is reordered harmlessly: its keywords move.
    return [name, name === 'properties' ? cheapFirst(inner, table) : inner] as const;
  });
  return Object.fromEntries(members);
}

function cheapFirst(schemas: Json, table: Table): Json {
  if (!isObject(schemas) || isList(schemas)) return schemas;
  const all = Object.entries(schemas as { readonly [name: string]: Json });
  const cheap: typeof all = [];
  const others: typeof all = [];
  for (const each of all) (isCheap(each[1], table) ? cheap : others).push(each);
  return Object.fromEntries([...cheap, ...others]);
}

/** References that are followed. */
const MOST_REFERENCES = 4;

/** Reports whether a schema, or its reference's target, looks at the value and at nothing within it. */
function isCheap(schema: Json, table: Table): boolean {
  let next: Json | undefined = schema;
  for (let i = 0; i < MOST_REFERENCES; i++) {
    if (!isObject(next)) return typeof next === 'boolean';
    const { $ref } = next as { readonly [name: string]: Json };
    if (typeof $ref !== 'string') return isLight(next as { readonly [name: string]: Json });
    if (Object.keys(next).length > 1) return false;
    next = table[$ref.slice(PREFIX.length)];
  }
  return false;
}
