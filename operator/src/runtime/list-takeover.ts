/**
 * Lists of the operator, keyed by a field such as a port, to which others have added items. Server-side apply leaves
 * such items to them, and if one has the key of ours, as after an edit of the key, the API server refuses both. Then
 * the operator takes over the whole list: the next apply removes all other items.
 */

import { isRecord } from '../kube/kube-object.ts';
import { ApiError } from './api-server.ts';

/** Fields of a manager as the API server writes them: `f:` a field, `k:` an item of a list, `.` the item itself. */
type Fields = { readonly [name: string]: unknown };

interface Managed extends Fields {
  readonly manager: string;
  readonly fieldsV1: Fields;
}

/** Paths of the lists in which a refused apply has found the same name twice, such as `.spec.ports`. */
export function duplicateLists(error: unknown): readonly string[] {
  if (!(error instanceof ApiError) || error.status !== 422 || !isRecord(error.body?.['details'])) return [];
  const causes: unknown = error.body['details']['causes'];
  if (!Array.isArray(causes)) return [];
  const fields = causes
    .filter(isRecord)
    .filter(({ reason }) => reason === 'FieldValueDuplicate')
    .map(({ field }) => /^(.+)\[\d+\][^[]*$/.exec(String(field))?.[1])
    .filter((list) => list !== undefined);
  return [...new Set(fields.map((list) => `.${list.replaceAll(/\[\d+\]/g, '')}`))];
}

export interface Takeover {
  /** Whose the items were. */
  readonly manager: string;
  /** The lists in which there were any. */
  readonly fields: readonly string[];
  /** The owners of fields from now on. */
  readonly managedFields: readonly unknown[];
}

/** Transfers other managers' fields in the lists to `manager`; returns undefined if they have none there. */
export function takeOver(managedFields: unknown, manager: string, lists: readonly string[]): Takeover | undefined {
  const entries: readonly unknown[] = Array.isArray(managedFields) ? managedFields : [];
  const own = entries.filter(isManaged).find((entry) => entry.manager === manager && entry['operation'] === 'Apply');
  if (!own) return undefined;
  let ours = own.fieldsV1;
  const from: string[] = [];
  const fields = new Set<string>();
  const others = entries
    .filter((entry) => entry !== own)
    .map((entry) => {
      if (!isManaged(entry)) return entry;
      let rest: Fields | undefined = entry.fieldsV1;
      for (const list of lists) {
        const [part, left] = split(rest, list.slice(1).split('.'));
        if (!part) continue;
        ours = merge(ours, part);
        rest = left;
        from.push(entry.manager);
        fields.add(list);
      }
      return rest && { ...entry, fieldsV1: rest };
    })
    .filter((entry) => entry !== undefined);
  const [first] = from;
  if (first === undefined) return undefined;
  return { manager: first, fields: [...fields], managedFields: [{ ...own, fieldsV1: ours }, ...others] };
}

/** Splits fields into those at the path, in every item of the lists on the way, and the rest; undefined: empty. */
function split(fields: Fields | undefined, path: readonly string[]): readonly [Fields | undefined, Fields | undefined] {
  const [name, ...deeper] = path;
  if (!fields || name === undefined) return [fields, undefined];
  const part: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const on = key === `f:${name}` ? deeper : key.startsWith('k:') ? path : undefined;
    const [found, left] = on && isRecord(value) ? split(value, on) : [undefined, value];
    if (found) part[key] = found;
    if (left) rest[key] = left;
  }
  return [isEmpty(part) ? undefined : part, isEmpty(rest) ? undefined : rest];
}

function merge(into: Fields, more: Fields): Fields {
  const merged: Record<string, unknown> = { ...into };
  for (const [key, value] of Object.entries(more)) {
    const known = merged[key];
    merged[key] = isRecord(known) && isRecord(value) ? merge(known, value) : value;
  }
  return merged;
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** Reports whether an entry is about the object itself, not its status. */
function isManaged(value: unknown): value is Managed {
  if (!isRecord(value) || value['subresource'] !== undefined) return false;
  return typeof value['manager'] === 'string' && isRecord(value['fieldsV1']);
}
