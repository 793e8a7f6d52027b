/** Estimates how long Ajv takes to compile a schema, from its shape. */
import type { Json, RoutesFile, SchemaRef } from '../../artifact/format.ts';

/** Milliseconds: schemas that take longer to compile are compiled and used in a helper only. */
export const MOST_COMPILE_MS = 250;
/** Prefix of schema names in references. */
export const PREFIX = 'gw:';
/** Milliseconds for each schema that says anything. */
const MS_A_SCHEMA = 0.15;
/** Milliseconds for each pair of branches: generated code nests them in each other. */
const MS_A_PAIR = 0.002;
/** Milliseconds for each pattern. */
const MS_A_PATTERN = 1;

const BRANCHES: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf']);

/** Milliseconds in which a schema is compiled with all that it refers to, estimated; about `most` if it takes longer. */
export function compileMs(table: RoutesFile['schemas'], { $ref }: SchemaRef, most = Number.POSITIVE_INFINITY): number {
  const seen = new Set<string>();
  const waiting = [$ref];
  let ms = 0;
  for (let next = waiting.pop(); next !== undefined && ms <= most; next = waiting.pop()) {
    const schema = table[next.slice(PREFIX.length)];
    if (seen.has(next) || schema === undefined) continue;
    seen.add(next);
    ms += ownMs(schema);
    collectRefs(schema, waiting);
  }
  return ms;
}

/** Returns the time for the schema itself: referenced schemas count on their own. */
function ownMs(schema: Json): number {
  let ms = 0;
  const waiting: Json[] = [schema];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next)) ms += MS_A_SCHEMA;
    for (const [name, value] of Object.entries(next as Readonly<Record<string, Json>>)) {
      if (BRANCHES.has(name) && Array.isArray(value)) ms += value.length ** 2 * MS_A_PAIR;
      if (name === 'pattern') ms += MS_A_PATTERN;
      if (name === 'patternProperties' && typeof value === 'object' && value !== null) {
        ms += Object.keys(value).length * MS_A_PATTERN;
      }
      waiting.push(value);
    }
  }
  return ms;
}

/** Adds the names of all schemas of the table that this one refers to. */
export function collectRefs(schema: Json, found: string[]): void {
  if (typeof schema !== 'object' || schema === null) return;
  if (Array.isArray(schema)) {
    for (const each of schema) collectRefs(each, found);
    return;
  }
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$ref' && typeof value === 'string' && value.startsWith(PREFIX))
      found.push(value.split('#')[0] as string);
    else collectRefs(value, found);
  }
}
