/**
 * Specs as clients get them (docs/reference/gateway.md#served-specs): without the gateway's extensions, several merged
 * into one. Pure.
 */
import { isObject, type Obj, objectOf } from '../spec/json.ts';
import { fullVersion } from '../spec/spec-version.ts';
import { schemasOf31 } from './openapi-31.ts';
import { operationIds, withOwnItems, withOwnSecurity, withOwnServers } from './openapi-operations.ts';
import { renamed, withOperationIds } from './renamed-spec.ts';
import { isData, isNameMap } from './spec-members.ts';

/** The document without `x-gw-*` extensions, and with its whole version; `x-sunset`, `x-deprecated-at` and all others remain. */
export function withoutExtensions(document: unknown): unknown {
  const stripped = strip(document, false);
  if (!isObject(stripped)) return stripped;
  const versions = (['openapi', 'asyncapi'] as const).flatMap((type) => {
    const version = Object.hasOwn(stripped, type) ? fullVersion(type, stripped[type]) : null;
    return version === null ? [] : [[type, version]];
  });
  return { ...stripped, ...Object.fromEntries(versions) };
}

function strip(value: unknown, names: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => strip(each, false));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => names || !key.startsWith('x-gw-'));
  return Object.fromEntries(
    kept.map(([key, each]) => [key, !names && isData(key) ? each : strip(each, !names && isNameMap(key, each))]),
  );
}

export interface NamedDocument {
  /** Base name of the file. */
  readonly name: string;
  readonly document: Obj;
}

/**
 * Merges several documents of the same kind into one: their lists side by side; different things of one name are
 * renamed after their files, with all references to them. A single title is kept.
 */
export function merge(documents: readonly NamedDocument[]): Obj {
  const [first, ...rest] = documents;
  if (!first) return {};
  if (rest.length === 0) return first.document;
  const titles = documents.map(({ document }) => titleOf(document));
  const [start = {}, ...others] = independent(documents);
  let merged: Obj = { ...start, info: { ...objectOf(first.document['info']), title: titles.join(', ') } };
  for (const [i, document] of others.entries()) {
    const slug = slugOf(rest[i]?.name ?? '');
    const ids = operationIds(merged);
    merged = join(merged, renamed(withOperationIds(document, ids, slug), merged, slug));
  }
  return { ...merged, ...version(documents) };
}

/** Documents that say the same when they stand in one: OpenAPI's hold security and servers for all that is in them. */
function independent(documents: readonly NamedDocument[]): Obj[] {
  const all = documents.map(({ document }) => document);
  if (!all.every((each) => 'openapi' in each)) return all;
  const is30 = (document: Obj) => /^3\.0\./.test(String(document['openapi']));
  const oneServer = new Set(all.map(({ servers }) => JSON.stringify(servers))).size === 1;
  const times = new Map<string, number>();
  for (const { paths } of all) {
    for (const path of Object.keys(objectOf(paths))) times.set(path, (times.get(path) ?? 0) + 1);
  }
  const shared = new Set([...times].filter(([path, count]) => count > 1 && path.startsWith('/')).map(([path]) => path));
  return all.map((document) => {
    const current = is30(document) && !all.every(is30) ? schemasOf31(document) : document;
    const placed = oneServer ? current : withOwnServers(current);
    return withOwnItems(withOwnSecurity(placed), shared);
  });
}

function titleOf(document: Obj): string {
  const title = objectOf(document['info'])['title'];
  return typeof title === 'string' ? title : '';
}

function slugOf(name: string): string {
  return name.replace(/\.[^.]*$/, '').replace(/[^A-Za-z0-9]+/g, '_');
}

/** Returns the newest of the documents' versions: each can express the content of older ones. */
function version(documents: readonly NamedDocument[]): Obj {
  const key = 'openapi' in (documents[0]?.document ?? {}) ? 'openapi' : 'asyncapi';
  const versions = documents.map(({ document }) => String(document[key]));
  return { [key]: versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) };
}

/** Sections of `components`, and AsyncAPI's top-level maps, joined; lists such as `tags` united. */
function join(a: Obj, b: Obj): Obj {
  const joined: { [key: string]: unknown } = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const own = joined[key];
    if (own === undefined) joined[key] = value;
    else if (key === 'info' || key === 'security') continue;
    else if (Array.isArray(own) && Array.isArray(value)) joined[key] = unite(own, value);
    else if (isObject(own) && isObject(value)) joined[key] = join(own, value);
  }
  return joined;
}

/** One of each name, as tags have them, or of each value. */
function unite(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  const identity = (each: unknown) => JSON.stringify(objectOf(each)['name'] ?? each);
  const known = new Set(a.map(identity));
  return [...a, ...b.filter((each) => !known.has(identity(each)))];
}
