/** References followed to an object, as most places of a document want one. */
import type { Diagnostics } from './diagnostic.ts';
import { type Documents, type Located, placeOf } from './documents.ts';
import { isObject, kindOf } from './json.ts';

/** The object that a reference leads to; null, and E1004, where it is none. An unresolved one is E1003 already. */
export function followObject(
  declared: Located,
  what: string,
  documents: Documents,
  diagnostics: Diagnostics,
): Located | null {
  const found = documents.follow(declared);
  if (!found) return null;
  if (isObject(found.value)) return found;
  diagnostics.add('E1004', placeOf(found), `${what} must be an object, and this is ${kindOf(found.value)}`);
  return null;
}
