/** JSON in one form only, for hashing: RFC 8785 for the values that we hash (no numbers beyond what doubles hold). */
import type { Json } from './format.ts';

/** Members sorted by UTF-16 code units, no white space, numbers and strings as ECMAScript writes them. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`);
  return `{${members.join(',')}}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
