/** References that lead back to their own schema without going into the value: a validator would never end. */
import type { Json } from '../../artifact/format.ts';
import { isList } from '../../spec/json.ts';

/** Keywords whose schemas apply to the same value. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'];

/** Replaces each reference that closes a circle by `true`, in place in the table; returns the ids of these circles. */
export function breakCycles(table: Map<string, Json>): readonly string[] {
  const state = new Map<string, 'open' | 'done'>();
  const broken: string[] = [];
  const enter = (id: string): void => {
    const schema = table.get(id);
    if (schema === undefined || state.has(id)) return;
    state.set(id, 'open');
    table.set(id, rewrite(schema, follow));
    state.set(id, 'done');
  };
  const follow = (id: string): boolean => {
    if (state.get(id) === 'open') {
      broken.push(id);
      return false;
    }
    enter(id);
    return true;
  };
  for (const id of table.keys()) enter(id);
  return broken;
}

/** Returns the schema without the in-place references for which `keep` returns false. */
function rewrite(schema: Json, keep: (id: string) => boolean): Json {
  if (typeof schema !== 'object' || schema === null || isList(schema)) return schema;
  let result: { readonly [key: string]: Json } = schema;
  const { $ref } = schema;
  if (typeof $ref === 'string' && !keep($ref.slice('gw:'.length))) {
    const { $ref: _, ...rest } = schema;
    result = rest;
  }
  for (const name of IN_PLACE) {
    const inner = result[name];
    if (inner === undefined) continue;
    const next = below(name, inner, keep);
    if (next !== inner) result = { ...result, [name]: next };
  }
  return result;
}

function below(name: string, inner: Json, keep: (id: string) => boolean): Json {
  if (typeof inner !== 'object' || inner === null) return inner;
  if (isList(inner)) {
    const next = inner.map((each) => rewrite(each, keep));
    return next.some((each, i) => each !== inner[i]) ? next : inner;
  }
  if (name !== 'dependentSchemas') return rewrite(inner, keep);
  const next = Object.entries(inner).map(([key, each]): [string, Json] => [key, rewrite(each, keep)]);
  return next.some(([key, each]) => each !== inner[key]) ? Object.fromEntries(next) : inner;
}
