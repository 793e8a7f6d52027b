/**
 * Which properties a schema declares `readOnly` or `writeOnly`: a request need not hold the first, a response not the
 * others, even if they are required (OpenAPI 3.0.3, section 4.7.24.2).
 */
import { type Documents, type Located, member } from '../../spec/documents.ts';
import { get, isObject } from '../../spec/json.ts';
import { schemaMapAt } from '../../spec/merged-reference.ts';
import type { Dialect } from '../../spec/recognise.ts';

/** Answers by schema object: `allOf`s of `allOf`s would be gone through exponentially often, or without end. */
const answers = {
  readOnly: new WeakMap<object, ReadonlySet<string>>(),
  writeOnly: new WeakMap<object, ReadonlySet<string>>(),
};

export type OneWay = keyof typeof answers;

export function oneWayNames(way: OneWay, schema: Located, dialect: Dialect, documents: Documents): ReadonlySet<string> {
  if (!isObject(schema.value)) return new Set();
  const known = answers[way];
  const answer = known.get(schema.value);
  if (answer) return answer;
  const names = new Set<string>();
  known.set(schema.value, names);
  const properties = schemaMapAt(member(schema, 'properties'), documents);
  if (isObject(properties.value)) {
    for (const name of Object.keys(properties.value)) {
      if (isOneWay(way, member(properties, name), dialect, documents)) names.add(name);
    }
  }
  const all = member(schema, 'allOf');
  if (Array.isArray(all.value)) {
    for (let i = 0; i < all.value.length; i++) {
      const part = documents.follow(member(all, i));
      if (part) for (const name of [...oneWayNames(way, part, dialect, documents)]) names.add(name);
    }
  }
  return names;
}

function isOneWay(way: OneWay, property: Located, dialect: Dialect, documents: Documents): boolean {
  const isReference = typeof get(property.value, '$ref') === 'string';
  if (!(isReference && dialect === '3.0') && get(property.value, way) === true) return true;
  const target = isReference ? documents.follow(property) : null;
  return get(target?.value, way) === true;
}
