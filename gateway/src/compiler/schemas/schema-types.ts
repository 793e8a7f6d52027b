/** The JSON types that a schema admits at its top: the text of a parameter is read as one of them. */
import { type Documents, type Located, member } from '../../spec/documents.ts';
import { get, isObject } from '../../spec/json.ts';
import { schemaMapAt } from '../../spec/merged-reference.ts';

/**
 * Answers by schema object: schemas that combine each other would be asked without end, or exponentially often.
 * While an answer is sought, it is the empty one.
 */
const knownTypes = new WeakMap<object, readonly string[]>();
const knownItems = new WeakMap<object, readonly string[]>();
const knownFiles = new WeakMap<object, boolean>();
const knownProperties = new WeakMap<object, Readonly<Record<string, readonly string[]>>>();

/** Numbers and booleans before strings, in the order in which text is tried; empty if the schema does not say. */
export function typesOf(schema: Located, documents: Documents): readonly string[] {
  const at = documents.follow(schema);
  return at && isObject(at.value) ? once(knownTypes, at.value, [], () => readTypes(at, documents)) : [];
}

function once<T>(known: WeakMap<object, T>, schema: object, meanwhile: T, find: () => T): T {
  const answer = known.get(schema);
  if (answer !== undefined) return answer;
  known.set(schema, meanwhile);
  const found = find();
  known.set(schema, found);
  return found;
}

function readTypes(at: Located, documents: Documents): readonly string[] {
  const own = ownTypes(at.value);
  const nullable = get(at.value, 'nullable') === true ? ['null'] : [];
  if (own.length > 0) return ordered([...own, ...nullable]);
  const all = list(at, 'allOf').map((each) => typesOf(each, documents));
  const said = all.find((types) => types.length > 0);
  if (said) return ordered([...said, ...nullable]);
  const some = [...list(at, 'anyOf'), ...list(at, 'oneOf')].map((each) => typesOf(each, documents));
  // A branch that does not say admits everything.
  if (some.length > 0 && some.every((types) => types.length > 0)) return ordered([...some.flat(), ...nullable]);
  if (isObject(get(at.value, 'properties'))) return ['object'];
  return get(at.value, 'items') === undefined ? [] : ['array'];
}

/** Returns the types of an array's items. */
export function itemTypes(schema: Located, documents: Documents): readonly string[] {
  const at = documents.follow(schema);
  return at && isObject(at.value) ? once(knownItems, at.value, [], () => readItemTypes(at, documents)) : [];
}

function readItemTypes(at: Located, documents: Documents): readonly string[] {
  const items = member(at, 'items');
  if (items.value !== undefined) return typesOf(items, documents);
  for (const each of parts(at)) {
    const types = itemTypes(each, documents);
    if (types.length > 0) return types;
  }
  return [];
}

/**
 * Reports whether a value, or an item of it, may be a file: one branch that says so is enough. `format` says so in
 * OpenAPI 3.0, and the keywords of content in 3.1.
 */
export function mayBeFile(schema: Located, documents: Documents): boolean {
  const at = documents.follow(schema);
  if (!at || !isObject(at.value)) return false;
  const { format, contentMediaType, contentEncoding } = at.value;
  if (format === 'binary' || format === 'byte' || (contentMediaType ?? contentEncoding) !== undefined) return true;
  const inner = [member(at, 'items'), ...parts(at)];
  return once(knownFiles, at.value, false, () => inner.some((each) => mayBeFile(each, documents)));
}

/** Returns the types of an object's properties, by name. */
export function propertyTypes(schema: Located, documents: Documents): Readonly<Record<string, readonly string[]>> {
  const at = documents.follow(schema);
  return at && isObject(at.value) ? once(knownProperties, at.value, {}, () => readPropertyTypes(at, documents)) : {};
}

function readPropertyTypes(at: Located, documents: Documents): Readonly<Record<string, readonly string[]>> {
  const properties = schemaMapAt(member(at, 'properties'), documents);
  const own = isObject(properties.value) ? Object.keys(properties.value) : [];
  return Object.fromEntries([
    ...parts(at).flatMap((each) => Object.entries(propertyTypes(each, documents))),
    ...own.map((name): [string, readonly string[]] => [name, typesOf(member(properties, name), documents)]),
  ]);
}

function parts(at: Located): Located[] {
  return ['allOf', 'anyOf', 'oneOf'].flatMap((name) => list(at, name));
}

function list(at: Located, name: string): Located[] {
  const all = member(at, name);
  return Array.isArray(all.value) ? all.value.map((_, i) => member(all, i)) : [];
}

function ownTypes(schema: unknown): string[] {
  const type = get(schema, 'type');
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string');
  const values = get(schema, 'const') === undefined ? get(schema, 'enum') : [get(schema, 'const')];
  return Array.isArray(values) ? values.map(typeOfValue) : [];
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' ? 'number' : typeof value;
}

const ORDER = ['integer', 'number', 'boolean', 'null', 'array', 'object', 'string'];

function ordered(types: readonly string[]): readonly string[] {
  return ORDER.filter((type) => types.includes(type));
}
