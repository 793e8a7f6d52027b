/** References followed to an object, as most places of a document want one. */
import type { Diagnostics } from './diagnostic.ts';
import { type Documents, type Located, member, placeOf } from './documents.ts';
import { get, isObject, kindOf } from './json.ts';

/**
 * Returns a reference's target; null, with E1003, if that is only itself. An unresolved one is E1003 already. Members
 * beside a reference are ignored, as the specifications say, with E1008.
 */
export function followed(declared: Located, documents: Documents, diagnostics: Diagnostics): Located | null {
  checkReference(declared, diagnostics);
  warnOfMembersBeside(declared, diagnostics);
  const found = documents.follow(declared);
  if (!found && documents.goesInCircle(declared)) {
    const ref = member(declared, '$ref');
    diagnostics.add(
      'E1003',
      placeOf(ref),
      `$ref "${String(ref.value)}" leads back to itself, and to nothing else`,
      'Let the reference, or one that it leads to, refer to an object that is written out.',
    );
  }
  return found;
}

/** Returns the object that a reference leads to; null, with E1003 or E1004, if it is not an object. */
export function followObject(
  declared: Located,
  what: string,
  documents: Documents,
  diagnostics: Diagnostics,
): Located | null {
  const found = followed(declared, documents, diagnostics);
  if (!found) return null;
  if (isObject(found.value)) return found;
  diagnostics.add(
    'E1004',
    placeOf(found),
    `${what} must be an object, but this is ${kindOf(found.value)}`,
    `Write ${what} as an object: its fields below it, each as "name: value".`,
  );
  return null;
}

/**
 * Returns the target of a reference at a place where the specification allows none, such as all responses of an
 * operation: resolved with E1007. Its value is undefined if the reference leads nowhere.
 */
export function followedPart(declared: Located, what: string, documents: Documents, diagnostics: Diagnostics): Located {
  if (typeof get(declared.value, '$ref') !== 'string') return declared;
  diagnostics.add('E1007', placeOf(member(declared, '$ref')), `${what} cannot be a $ref: its target is read`);
  return followed(declared, documents, diagnostics) ?? { ...declared, value: undefined };
}

/** A `$ref` is a text (E1004). */
export function checkReference(declared: Located, diagnostics: Diagnostics): void {
  const ref = get(declared.value, '$ref');
  if (ref === undefined || typeof ref === 'string') return;
  diagnostics.add(
    'E1004',
    placeOf(member(declared, '$ref')),
    `"$ref" is ${kindOf(ref)}: it must be a string`,
    'Write $ref: "#/components/schemas/NAME", in quotation marks.',
  );
}

/** Annotations: ignoring them beside a reference loses no constraint. */
const ANNOTATIONS = new Set(['$ref', 'summary', 'description', 'title']);

function warnOfMembersBeside(declared: Located, diagnostics: Diagnostics): void {
  if (!isObject(declared.value) || typeof declared.value['$ref'] !== 'string') return;
  for (const name of Object.keys(declared.value)) {
    if (ANNOTATIONS.has(name) || name.startsWith('x-')) continue;
    diagnostics.add('E1008', placeOf(member(declared, name)), `"${name}" stands beside a $ref, and is ignored`);
  }
}
