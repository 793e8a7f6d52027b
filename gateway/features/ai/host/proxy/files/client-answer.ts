/** Answers of a provider about files and batches, with ids as the client sees them. */

import { get, isNestedWithin, isObject, jsonText, MOST_NESTING, type Obj, parseAsWritten } from '../../../../kit.ts';
import { ProviderFailure } from '../conversation/provider-failure.ts';
import type { FilesSurface, OwnedIds } from '../targets/bound-ids.ts';

/** Members that are ids, of any of the objects. */
const IDS: readonly (readonly [member: string, of: FilesSurface | null])[] = [
  ['id', null],
  ['input_file_id', 'files'],
  ['output_file_id', 'files'],
  ['error_file_id', 'files'],
];

/** Throws ProviderFailure if the body is not an object with an id. */
export function objectOf(body: Uint8Array): Obj {
  let value: unknown;
  try {
    value = parseAsWritten(jsonText(body));
  } catch {
    // Refused below.
  }
  if (!isObject(value) || typeof get(value, 'id') !== 'string') throw new ProviderFailure('its answer has no id');
  if (!isNestedWithin(body, MOST_NESTING))
    throw new ProviderFailure(`its answer is nested more than ${MOST_NESTING} levels deep`);
  return value;
}

/** Returns JSON text. Throws ProviderFailure if one of the ids is not a string. */
export function bindIds(value: Obj, surface: FilesSurface, owned: OwnedIds): string {
  const ids = new Map<string, string>();
  for (const [member, of] of IDS) {
    const id = get(value, member) ?? null;
    if (id === null) continue;
    if (typeof id !== 'string') throw new ProviderFailure(`${member} of its answer is not an id`);
    ids.set(id, bindId(owned, of ?? surface, id));
  }
  return withIds(JSON.stringify(value), ids);
}

function bindId(owned: OwnedIds, surface: FilesSurface, id: string): string {
  try {
    return owned.bind(surface, id);
  } catch {
    throw new ProviderFailure('its answer has an id that is not valid');
  }
}

/** Replaces ids anywhere, since texts of errors name them, too. Ids are letters, which JSON never escapes. */
export function withIds(text: string, ids: ReadonlyMap<string, string>): string {
  if (ids.size === 0) return text;
  const any = new RegExp(`(?<![\\w-])(?:${[...ids.keys()].join('|')})(?![\\w-])`, 'g');
  return text.replace(any, (id) => ids.get(id) ?? id);
}
