/** A revision's operations in the form that the database stores for lists. */
import type { DescribedOperation } from '@gw/gateway/compiler';
import type { StoredOperation } from '../../db/schema.ts';
import { type BoundField, placeOf } from './bindings.ts';

/** Maximum characters of JSON: aliases of YAML multiply the content of a document. */
const MAX_TEXT = 16 << 20;

/**
 * Returns the JSON of the list, in its order; null if it is too long. `bound`: fields from bindings, by method and
 * path.
 */
export function operationsText(
  operations: readonly DescribedOperation[],
  bound: ReadonlyMap<string, readonly BoundField[]>,
): string | null {
  const parts: string[] = [];
  let length = 0;
  for (const operation of operations) {
    const part = storable(JSON.stringify(stored(operation, bound.get(placeOf(operation)))));
    length += part.length;
    if (length > MAX_TEXT) return null;
    parts.push(part);
  }
  return `[${parts.join(',')}]`;
}

function stored(
  { operationId, file: _, pointer: __, ...rest }: DescribedOperation,
  bound: readonly BoundField[] | undefined,
): StoredOperation {
  return { operation_id: operationId, ...rest, ...(bound ? { bound } : {}) };
}

/** Replaces U+0000 and lone surrogates, which JSON can escape but PostgreSQL cannot store, by U+FFFD. */
function storable(json: string): string {
  return json.replaceAll(/\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g, (found) => (found.length > 2 ? '\ufffd' : found));
}

/** Returns a document's text in a form that a column accepts. */
export function storableText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replaceAll('\0', '\ufffd').toWellFormed();
}
