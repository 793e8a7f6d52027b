/**
 * `uniqueItems` (JSON Schema 2020-12, section 6.4.3). Ours, since Ajv's compares each item with every other: a body
 * of 1 MiB would hold up the event loop for minutes.
 */
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import { canonicalJson } from '../artifact/canonical-json.ts';
import type { Json } from '../artifact/format.ts';

interface Verdict {
  (items: readonly Json[]): boolean;
  errors?: Partial<ErrorObject>[];
}

/** The first two items that are equal as JSON values. */
function findDuplicate(items: readonly Json[]): { readonly i: number; readonly j: number } | null {
  const scalars = new Map<Json, number>();
  const others = new Map<Json, number>();
  for (const [i, item] of items.entries()) {
    const isScalar = typeof item !== 'object' || item === null;
    const seen = isScalar ? scalars : others;
    const key = isScalar ? item : canonicalJson(item);
    const j = seen.get(key);
    if (j !== undefined) return { i, j };
    seen.set(key, i);
  }
  return null;
}

/** Puts the keyword in place of Ajv's, with its errors. */
export function addUniqueItems(ajv: Ajv2020): void {
  const compile = (unique: boolean): Verdict => {
    const validate: Verdict = (items) => {
      const found = unique ? findDuplicate(items) : null;
      if (found === null) return true;
      const message = `must NOT have duplicate items (items ## ${found.j} and ${found.i} are identical)`;
      validate.errors = [{ keyword: 'uniqueItems', message, params: found }];
      return false;
    };
    return validate;
  };
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', compile });
}
