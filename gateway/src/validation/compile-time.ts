/** How long Ajv takes to compile a schema, estimated from its shape. */
import type { Json } from '../artifact/format.ts';

/** Milliseconds for each schema that says anything. */
const MS_A_SCHEMA = 0.15;
/** Milliseconds for each pair of branches: generated code nests them in each other. */
const MS_A_PAIR = 0.002;

const BRANCHES: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf']);

/** Estimated milliseconds. What schemas refer to counts where it stands, and not here. */
export function compileMs(schema: Json): number {
  let ms = 0;
  const waiting: Json[] = [schema];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next)) ms += MS_A_SCHEMA;
    for (const [name, value] of Object.entries(next as Readonly<Record<string, Json>>)) {
      if (BRANCHES.has(name) && Array.isArray(value)) ms += value.length ** 2 * MS_A_PAIR;
      waiting.push(value);
    }
  }
  return ms;
}
