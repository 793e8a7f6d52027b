/** Traits of AsyncAPI operations and messages (AsyncAPI 3.0, "Traits Merge Mechanism"; RFC 7396). */
import type { Diagnostics } from './diagnostic.ts';
import { type Documents, type Located, member, placeOf } from './documents.ts';
import { followedPart, followObject } from './follow-object.ts';
import { isObject, kindOf } from './json.ts';

export interface Traited {
  /** The object with its traits merged in: its own members win. Extensions and plain values only hold across files. */
  readonly merged: Located;
  /** The object and its traits, the one that decides first: for members with references, which belong to their file. */
  readonly sources: readonly Located[];
}

/** `at`: an object, with references followed. */
export function withTraits(at: Located, documents: Documents, diagnostics: Diagnostics): Traited {
  const list = followedPart(member(at, 'traits'), '"traits"', documents, diagnostics);
  if (list.value === undefined) return { merged: at, sources: [at] };
  if (!Array.isArray(list.value)) {
    diagnostics.add(
      'E1004',
      placeOf(list),
      `"traits" is ${kindOf(list.value)}: it must be a list`,
      'Write traits: [{ $ref: "#/components/operationTraits/NAME" }].',
    );
    return { merged: at, sources: [at] };
  }
  const traits = list.value.flatMap((_, i) => followObject(member(list, i), 'a trait', documents, diagnostics) ?? []);
  const value = [...traits, at].reduce<unknown>((merged, each) => mergePatch(merged, each.value), {});
  // A member that a trait has, too, is of both.
  const isOwn = (name: string) => traits.every((trait) => !isObject(trait.value) || !Object.hasOwn(trait.value, name));
  const origins = new Map([...(at.origins ?? [])].filter(([name]) => isOwn(name)));
  return { merged: { ...at, value, origins }, sources: [at, ...traits.toReversed()] };
}

/** RFC 7396: members of `patch` replace those of `target`, objects are merged, null removes. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
