/**
 * Extensions that an operation has from around it (docs/reference/gateway.md#inheritance,
 * docs/decisions.md#extensions-inherited): `x-gw-dispatch` and `x-gw-middlewares` at the root, on a path item, and on
 * traits of AsyncAPI operations.
 */
import type { Diagnostics } from './diagnostic.ts';
import { type Located, member, placeOf } from './documents.ts';
import { type DeclaredMiddleware, type DeclaredUse, dispatchAt, middlewaresAt } from './extensions.ts';
import type { Layers } from './operations.ts';

/** A use by an operation, which may stand around it. */
export interface InheritedUse extends DeclaredUse {
  readonly isInherited: boolean;
}

/** Returns the nearest `x-gw-dispatch`, valid or not; null without one. */
export function nearestDispatch({ dispatch }: Layers): (Located & { readonly isInherited: boolean }) | null {
  const holder = dispatch.findLast((each) => member(each, 'x-gw-dispatch').value !== undefined);
  return holder ? { ...member(holder, 'x-gw-dispatch'), isInherited: holder !== dispatch.at(-1) } : null;
}

/** Returns undefined without a dispatch, `off` if it is `false`, and null, with E1012, if it is malformed. */
export function dispatchOf(layers: Layers, diagnostics: Diagnostics): InheritedUse | 'off' | null | undefined {
  const nearest = nearestDispatch(layers);
  if (nearest === null) return undefined;
  if (nearest.value === false) return 'off';
  const use = dispatchAt(nearest, diagnostics);
  return use && { ...use, isInherited: nearest.isInherited };
}

/** Returns middlewares from the outside in. */
export function middlewaresOf({ middlewares }: Layers, diagnostics: Diagnostics): InheritedUse[] {
  const operation = middlewares.at(-1);
  const merged = middlewares.reduce<readonly Entry[]>((outer, layer) => {
    const entries = middlewaresAt(layer, diagnostics).map((each): Entry => ({ ...each, layer }));
    checkIds(entries, diagnostics);
    return merge(outer, entries, diagnostics);
  }, []);
  return merged.flatMap(({ use, layer }) => (use ? [{ ...use, isInherited: layer !== operation }] : []));
}

interface Entry extends DeclaredMiddleware {
  readonly layer: Located;
}

/** An entry replaces the outer one of the same id, in its place, or drops it (`enabled: false`). */
function merge(outer: readonly Entry[], inner: readonly Entry[], diagnostics: Diagnostics): readonly Entry[] {
  const merged: (Entry | null)[] = [...outer];
  const added: Entry[] = [];
  for (const entry of inner) {
    const id = idOf(entry, outer, inner);
    if (id === undefined && outer.some(({ name }) => name === entry.name)) {
      const message = `"${entry.name}" is more than once in this list and those around it: which of them this entry replaces is open`;
      diagnostics.add('E1012', placeOf(entry.at), message, `Give each "${entry.name}" of these lists an "id".`);
      continue;
    }
    const place = id === undefined ? -1 : outer.findIndex((each) => idOf(each, outer, inner) === id);
    if (place >= 0) merged[place] = entry.enabled ? entry : null;
    else if (entry.enabled) added.push(entry);
    else if (!entry.use) {
      const message = `there is no middleware "${id ?? entry.name}" around this list to leave out`;
      diagnostics.add(
        'E1012',
        placeOf(entry.at),
        message,
        'Name the "id" of an entry at the root or on the path item.',
      );
    }
  }
  return [...merged.filter((each) => each !== null), ...added];
}

/** Returns its `id`, else its name if no other entry of the two lists has it. */
function idOf({ id, name }: Entry, outer: readonly Entry[], inner: readonly Entry[]): string | undefined {
  if (id !== undefined || name === undefined) return id;
  const isUnique = (list: readonly Entry[]) => list.filter((each) => each.name === name).length <= 1;
  return isUnique(outer) && isUnique(inner) ? name : undefined;
}

function checkIds(entries: readonly Entry[], diagnostics: Diagnostics): void {
  const seen = new Set<string>();
  for (const { id, at } of entries) {
    if (id === undefined) continue;
    if (seen.has(id)) {
      diagnostics.add('E1012', placeOf(member(at, 'id')), `id "${id}" is there twice`, 'Give each entry its own "id".');
    }
    seen.add(id);
  }
}
