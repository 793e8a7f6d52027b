/** JSON in the one form that all texts of the same value have: members by name, without spaces. */
import { isObject } from '../../../spec/json.ts';

/** Of a value that was parsed, whose depth was limited then. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`;
}
