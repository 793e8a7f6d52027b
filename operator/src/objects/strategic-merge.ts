/**
 * Strategic merge patches, as `kubectl patch` takes them: objects merge by name, `null` deletes, lists of objects merge
 * by the key that the Kubernetes API declares for them, all other lists are replaced. Directives: `$patch` (`merge`,
 * `replace`, `delete`), `$retainKeys`, `$deleteFromPrimitiveList/FIELD`; `$setElementOrder/FIELD` is accepted and
 * ignored, since the order has no meaning here.
 */
import type { Json, JsonObject } from '@gw/gateway/artifact';

/** The keys by which lists merge, by their path; `*` stands for the elements of a list. */
export type MergeKeys = ReadonlyMap<string, string>;

/** The patch requests something that does not exist; the message names the place. */
export class PatchError extends Error {}

const DELETE_FROM = '$deleteFromPrimitiveList/';
const SET_ORDER = '$setElementOrder/';

export function strategicMerge(original: JsonObject, patch: JsonObject, keys: MergeKeys): JsonObject {
  return mergeObjects(original, patch, keys, []);
}

type Path = readonly string[];

function mergeObjects(original: JsonObject, patch: JsonObject, keys: MergeKeys, at: Path): JsonObject {
  const { $patch: directive = 'merge', $retainKeys: retained, ...fields } = patch;
  if (directive === 'replace') return withoutNulls(fields);
  if (directive === 'delete') return {};
  if (directive !== 'merge')
    throw new PatchError(`${place(at)}: $patch is ${JSON.stringify(directive)}, not merge, replace or delete`);
  const merged = new Map<string, Json>(
    Object.entries(retained === undefined ? original : retain(original, retained, at)),
  );
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith(SET_ORDER)) continue;
    if (name.startsWith(DELETE_FROM)) deleteFrom(merged, name.slice(DELETE_FROM.length), value, at);
    else if (name.startsWith('$'))
      throw new PatchError(`${place(at)}: "${name}" is not a directive of a strategic merge patch`);
    else if (value === null) merged.delete(name);
    else merged.set(name, mergeValues(merged.get(name), value, keys, [...at, name]));
  }
  return Object.fromEntries(merged);
}

function mergeValues(original: Json | undefined, patch: Json, keys: MergeKeys, at: Path): Json {
  if (isList(patch)) {
    const key = keys.get(at.join('.'));
    return key === undefined ? patch : mergeLists(isList(original) ? original : [], patch, { key, keys, at });
  }
  if (!isObject(patch)) return patch;
  return mergeObjects(isObject(original) ? original : {}, patch, keys, at);
}

interface ListMerge {
  readonly key: string;
  readonly keys: MergeKeys;
  readonly at: Path;
}

/** Elements that the patch names are merged in their place, new ones come behind. */
function mergeLists(original: readonly Json[], patch: readonly Json[], { key, keys, at }: ListMerge): Json {
  const elements = patch.map((element) => {
    if (!isObject(element)) throw new PatchError(`${place(at)}: an element is not an object`);
    return element;
  });
  const merged: Json[] = elements.some(isReplacement) ? [] : [...original];
  for (const element of elements.filter((each) => !isReplacement(each))) {
    const { $patch: directive } = element;
    if (directive === 'replace') throw new PatchError(`${place(at)}: an element with $patch: replace has other fields`);
    const name = element[key];
    if (name === undefined) throw new PatchError(`${place(at)}: an element has no "${key}", by which the list merges`);
    const index = merged.findIndex((each) => isObject(each) && each[key] === name);
    if (directive === 'delete') {
      if (index >= 0) merged.splice(index, 1);
      continue;
    }
    const before = merged[index];
    const after = mergeObjects(isObject(before) ? before : {}, element, keys, [...at, '*']);
    if (index >= 0) merged[index] = after;
    else merged.push(after);
  }
  return merged;
}

/** Reports whether an element declares the others to be the whole list. */
function isReplacement(element: JsonObject): boolean {
  return element['$patch'] === 'replace' && Object.keys(element).length === 1;
}

/** Keeps only the fields that the list names, by which a union such as a volume's source is changed. */
function retain(original: JsonObject, names: Json, at: Path): JsonObject {
  if (!isList(names)) throw new PatchError(`${place(at)}: $retainKeys is not a list`);
  return Object.fromEntries(Object.entries(original).filter(([name]) => names.includes(name)));
}

function deleteFrom(merged: Map<string, Json>, name: string, values: Json, at: Path): void {
  const list = merged.get(name);
  if (!isList(values)) throw new PatchError(`${place([...at, `${DELETE_FROM}${name}`])}: not a list`);
  if (isList(list))
    merged.set(
      name,
      list.filter((each) => !values.includes(each)),
    );
}

/** Removes nulls: a patch may write `null` for a field that does not exist. */
function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function place(at: Path): string {
  return at.length === 0 ? 'the patch' : at.filter((name) => name !== '*').join('.');
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
