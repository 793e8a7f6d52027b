/**
 * References whose neighbours count: of operations (docs/decisions.md#operation-references) and of path items. Members
 * beside a `$ref` replace those of its target whole.
 */
import type { Diagnostics } from './diagnostic.ts';
import { type Documents, type Located, member, placeOf } from './documents.ts';
import { checkReference } from './follow-object.ts';
import { get, isObject, kindOf } from './json.ts';

/** References to references, each of which is merged with the next. */
const MOST_REFERENCES = 8;

export interface MergedObject {
  /** Has the place of the first reference; each member is located at its own place. */
  readonly at: Located;
  /** The object as declared, then the target of each reference in turn. */
  readonly chain: readonly [Located, ...Located[]];
  /** Names both beside a reference and in its target. */
  readonly replaced: readonly string[];
}

/** Null, and a diagnostic, if the reference leads to no object. An unresolved one is E1003 already. */
export function followMerged(
  declared: Located,
  what: string,
  documents: Documents,
  diagnostics: Diagnostics,
): MergedObject | null {
  const chain: [Located, ...Located[]] = [declared];
  for (let at = declared; ; ) {
    if (!isObject(at.value)) {
      diagnostics.add(
        'E1004',
        placeOf(at),
        `${what} must be an object, but this is ${kindOf(at.value)}`,
        `Write ${what} as an object: its fields below it, each as "name: value".`,
      );
      return null;
    }
    checkReference(at, diagnostics);
    const ref = at.value['$ref'];
    if (typeof ref !== 'string') break;
    if (chain.length > MOST_REFERENCES) {
      const place = placeOf(member(declared, '$ref'));
      diagnostics.add(
        'E1003',
        place,
        `$ref "${ref}" leads back to itself, or through more than ${MOST_REFERENCES} references`,
        'Let the reference lead to an object that is written out.',
      );
      return null;
    }
    const resolution = documents.resolve(at, ref);
    if (!resolution.ok) return null;
    at = resolution.target;
    chain.push(at);
  }
  const replaced: string[] = [];
  const at = chain.reduceRight((target, each) => merge(each, target, replaced));
  return { at, chain, replaced };
}

/**
 * Returns a map of schemas such as `properties`, whose `$ref` is not a name but leads to further members, as in
 * documents of several files. Members beside it replace those of the target.
 */
export function schemaMapAt(declared: Located, documents: Documents): Located {
  if (typeof get(declared.value, '$ref') !== 'string') return declared;
  const target = documents.follow(declared);
  return target ? merge(declared, target, []) : { ...declared, value: undefined };
}

function merge(reference: Located, target: Located, replaced: string[]): Located {
  const { $ref: _, ...beside } = isObject(reference.value) ? reference.value : {};
  const value = isObject(target.value) ? target.value : {};
  replaced.push(...Object.keys(beside).filter((name) => Object.hasOwn(value, name)));
  const inherited = Object.keys(value).filter((name) => !Object.hasOwn(beside, name));
  const origins = new Map(inherited.map((name) => [name, member(target, name)]));
  return { ...reference, value: { ...value, ...beside }, origins };
}
