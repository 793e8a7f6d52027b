/** References followed to an object, as most places of a document want one. */
import type { Diagnostics } from './diagnostic.ts';
import { type Documents, type Located, member, placeOf } from './documents.ts';
import { isObject, kindOf } from './json.ts';

/** What a reference leads to; null, and E1003, where that is only itself. An unresolved one is E1003 already. */
export function followed(declared: Located, documents: Documents, diagnostics: Diagnostics): Located | null {
  const found = documents.follow(declared);
  if (!found && documents.goesInCircle(declared)) {
    const ref = member(declared, '$ref');
    diagnostics.add('E1003', placeOf(ref), `$ref "${String(ref.value)}" leads back to itself, and to nothing else`);
  }
  return found;
}

/** The object that a reference leads to; null, and E1003 or E1004, where it is none. */
export function followObject(
  declared: Located,
  what: string,
  documents: Documents,
  diagnostics: Diagnostics,
): Located | null {
  const found = followed(declared, documents, diagnostics);
  if (!found) return null;
  if (isObject(found.value)) return found;
  diagnostics.add('E1004', placeOf(found), `${what} must be an object, but this is ${kindOf(found.value)}`);
  return null;
}
