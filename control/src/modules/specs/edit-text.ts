/** Edits the text of a document at named places, and proves that everything else keeps its value. */
import { isDeepStrictEqual } from 'node:util';
import { parseText, valueAt } from '@gw/gateway/spec';
import type { Edit } from './edit.ts';
import { editJson } from './edit-json.ts';
import { editYaml } from './edit-yaml.ts';

/** An impossible edit, described for the caller. */
export class PatchRefused extends Error {}

/** Throws PatchRefused if an anchor, an alias or a merge key affects the place. */
export function editText(text: string, value: unknown, edits: readonly Edit[]): string {
  const expected = withEdits(value, edits);
  for (const candidate of candidates(text, edits)) {
    const parsed = parseText(Buffer.from(candidate));
    if (parsed.ok && isDeepStrictEqual(parsed.value, expected)) return candidate;
  }
  throw new PatchRefused(
    'the document cannot be edited at this place, which an anchor, alias or merge key reaches: edit it and upload it',
  );
}

function* candidates(text: string, edits: readonly Edit[]): Iterable<string> {
  const json = isJson(text) ? editJson(text, edits) : null;
  if (json !== null) yield json;
  else yield* editYaml(text, edits);
}

function withEdits(value: unknown, edits: readonly Edit[]): unknown {
  const copy = unshared(value);
  for (const { pointer, changes } of edits) {
    const object = valueAt(copy, pointer);
    if (typeof object !== 'object' || object === null) continue;
    for (const [key, after] of changes) {
      if (after === undefined) Reflect.deleteProperty(object, key);
      else Reflect.set(object, key, after);
    }
  }
  return copy;
}

/** Copies a value without shared aliases: an edit changes one place. */
function unshared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unshared);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unshared(each)]));
}

function isJson(text: string): boolean {
  try {
    return /^\s*\{/.test(text) && JSON.parse(text) !== null;
  } catch {
    return false;
  }
}
