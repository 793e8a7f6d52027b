/** Which properties a schema declares `readOnly`: a request need not hold them, even where they are required. */
import { type Documents, type Located, member } from '../spec/documents.ts';
import { get, isObject } from '../spec/json.ts';
import type { Dialect } from '../spec/recognise.ts';

/** Answers by schema object: `allOf`s of `allOf`s would be gone through exponentially often, or without end. */
const known = new WeakMap<object, ReadonlySet<string>>();

export function readOnlyNames(schema: Located, dialect: Dialect, documents: Documents): ReadonlySet<string> {
  if (!isObject(schema.value)) return new Set();
  const answer = known.get(schema.value);
  if (answer) return answer;
  const names = new Set<string>();
  known.set(schema.value, names);
  const properties = member(schema, 'properties');
  if (isObject(properties.value)) {
    for (const name of Object.keys(properties.value)) {
      if (isReadOnly(member(properties, name), dialect, documents)) names.add(name);
    }
  }
  const all = member(schema, 'allOf');
  if (Array.isArray(all.value)) {
    for (let i = 0; i < all.value.length; i++) {
      const part = documents.follow(member(all, i));
      if (part) for (const name of [...readOnlyNames(part, dialect, documents)]) names.add(name);
    }
  }
  return names;
}

function isReadOnly(property: Located, dialect: Dialect, documents: Documents): boolean {
  const isReference = typeof get(property.value, '$ref') === 'string';
  if (!(isReference && dialect === '3.0') && get(property.value, 'readOnly') === true) return true;
  const target = isReference ? documents.follow(property) : null;
  return get(target?.value, 'readOnly') === true;
}
