/** JSON in one form only, for hashing: RFC 8785 for the values that are hashed here (no numbers beyond doubles). */
import { isList } from '../spec/json.ts';
import type { Json, JsonObject } from './format.ts';

/** Members sorted by UTF-16 code units, no white space, numbers and strings as ECMAScript writes them. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`);
  return `{${members.join(',')}}`;
}

/** The same value with the members of every object sorted, as `canonicalJson` sorts them. */
export function sortedMembers(value: JsonObject): JsonObject;
export function sortedMembers(value: Json): Json;
export function sortedMembers(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((each) => sortedMembers(each));
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sortedMembers(value[name] as Json)]));
}
