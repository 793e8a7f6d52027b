/** Names of one document that mean something else in another, and all that refers to them. Pure. */
import { isObject, type Obj, objectOf } from '../spec/json.ts';
import { operationIds } from './openapi-operations.ts';
import { isData, isNameMap } from './spec-members.ts';

/** Maps of named objects besides components: AsyncAPI's, and OpenAPI's webhooks. */
const TOP_LEVEL = { asyncapi: ['channels', 'operations', 'servers'], openapi: ['webhooks'] };

/**
 * Returns the document with those objects renamed whose names mean something else in `into`, or refer to such an
 * object.
 */
export function renamed(document: Obj, into: Obj, slug: string): Obj {
  const taken = new Map(sectionsOf(into));
  const names = new Map<string, string>();
  let known: number;
  do {
    known = names.size;
    for (const [section, map] of sectionsOf(document)) {
      const others = taken.get(section) ?? {};
      for (const [name, value] of Object.entries(map)) {
        if (names.has(`${section}/${name}`) || !Object.hasOwn(others, name)) continue;
        if (JSON.stringify(others[name]) === JSON.stringify(point(value, names))) continue;
        let other = `${name}_${slug}`;
        while (Object.hasOwn(others, other) || Object.hasOwn(map, other)) other += '_';
        names.set(`${section}/${name}`, other);
      }
    }
  } while (names.size > known);
  if (names.size === 0) return document;
  const maps = Object.fromEntries(
    sectionsOf(document).map(([section, map]) => [section, withNames(section, map, names)]),
  );
  const components = Object.fromEntries(
    Object.keys(objectOf(document['components'])).map((name) => [name, maps[`components/${name}`]]),
  );
  const own = Object.fromEntries(
    [...TOP_LEVEL.asyncapi, ...TOP_LEVEL.openapi].flatMap((name) => (name in maps ? [[name, maps[name]]] : [])),
  );
  return objectOf(point({ ...document, ...own, ...('components' in document ? { components } : {}) }, names));
}

/** The document with those operation ids renamed that are taken, and the links that name them (OpenAPI: they are unique). */
export function withOperationIds(document: Obj, taken: ReadonlySet<string>, slug: string): Obj {
  const own = operationIds(document);
  const names = new Map<string, string>();
  for (const id of own) {
    if (!taken.has(id)) continue;
    let other = `${id}_${slug}`;
    while (taken.has(other) || own.has(other)) other += '_';
    names.set(id, other);
  }
  return names.size === 0 ? document : objectOf(withIds(document, names, false));
}

function withIds(value: unknown, names: ReadonlyMap<string, string>, named: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => withIds(each, names, false));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (named) return [key, withIds(each, names, false)];
      if (isData(key)) return [key, each];
      if (key === 'operationId' && typeof each === 'string') return [key, names.get(each) ?? each];
      return [key, withIds(each, names, isNameMap(key, each))];
    }),
  );
}

/** Maps of named objects, by the path under which references reach them: `components/schemas`, `channels`. */
function sectionsOf(document: Obj): [section: string, map: Obj][] {
  const components = Object.entries(objectOf(document['components']));
  const own = TOP_LEVEL['asyncapi' in document ? 'asyncapi' : 'openapi'].filter((name) => isObject(document[name]));
  return [
    ...components.map(([name, map]): [string, Obj] => [`components/${name}`, objectOf(map)]),
    ...own.map((name): [string, Obj] => [name, objectOf(document[name])]),
  ];
}

function withNames(section: string, map: Obj, names: ReadonlyMap<string, string>): Obj {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [names.get(`${section}/${name}`) ?? name, value]),
  );
}

/** Follows the new names: `$ref`, discriminator mappings, security requirements. */
function point(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => point(each, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (key === '$ref' && typeof each === 'string') return [key, target(each, names)];
      if (key === 'mapping' && isObject(each)) {
        return [key, Object.fromEntries(Object.entries(each).map(([from, to]) => [from, mapped(to, names)]))];
      }
      if (key === 'security' && Array.isArray(each)) return [key, each.map((entry) => requirement(entry, names))];
      return [key, point(each, names)];
    }),
  );
}

function target(ref: string, names: ReadonlyMap<string, string>): string {
  const parts = /^#\/(components\/[^/]+|channels|operations|servers|webhooks)\/([^/]+)(.*)$/.exec(ref);
  const name =
    parts &&
    names.get(
      `${parts[1]}/${decodeURIComponent(parts[2] ?? '')
        .replaceAll('~1', '/')
        .replaceAll('~0', '~')}`,
    );
  return parts && name ? `#/${parts[1]}/${name}${parts[3]}` : ref;
}

/** A mapping names a schema by reference or by its bare name. */
function mapped(to: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof to !== 'string') return to;
  return names.get(`components/schemas/${to}`) ?? target(to, names);
}

function requirement(entry: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!isObject(entry)) return entry;
  return Object.fromEntries(
    Object.entries(entry).map(([name, scopes]) => [names.get(`components/securitySchemes/${name}`) ?? name, scopes]),
  );
}
