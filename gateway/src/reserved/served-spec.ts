/** What clients get of a spec (reference 1, section 4.1): its extensions of ours removed, several merged into one. Pure. */
import { isObject, type Obj } from '../spec/json.ts';
import { isSchemaOfHeaders } from '../spec/walk.ts';
import { objectOf, renamed } from './renamed-spec.ts';

/** Below these keys, names are the author's own and not keywords. */
const NAME_MAPS = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'schemas', 'responses', 'headers'],
  ...['parameters', 'examples', 'requestBodies', 'securitySchemes', 'links', 'callbacks', 'pathItems', 'mediaTypes'],
  ...['messages', 'operations', 'channels', 'servers', 'mapping', 'scopes', 'variables', 'encoding'],
]);
/** Below these keys is data of the API, which we do not touch. */
const DATA = new Set(['example', 'default', 'const', 'enum', 'value']);

function isNameMap(key: string, value: unknown): boolean {
  return NAME_MAPS.has(key) && !(key === 'headers' && isSchemaOfHeaders(value));
}

/** The document without `x-gw-*` extensions; `x-sunset` and all others remain. */
export function withoutExtensions(document: unknown): unknown {
  return strip(document, false);
}

function strip(value: unknown, names: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => strip(each, false));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => names || !key.startsWith('x-gw-'));
  return Object.fromEntries(
    kept.map(([key, each]) => [key, !names && DATA.has(key) ? each : strip(each, !names && isNameMap(key, each))]),
  );
}

export interface NamedDocument {
  /** Base name of the file. */
  readonly name: string;
  readonly document: Obj;
}

/**
 * One document of several of the same kind: what they list side by side; what differs under one name is renamed
 * after its file, with all that refers to it. The first one's title stands where there is one only.
 */
export function merge(documents: readonly NamedDocument[]): Obj {
  const [first, ...rest] = documents;
  if (!first) return {};
  if (rest.length === 0) return first.document;
  const titles = documents.map(({ document }) => titleOf(document));
  let merged: Obj = { ...first.document, info: { ...objectOf(first.document['info']), title: titles.join(', ') } };
  for (const { name, document } of rest) merged = join(merged, renamed(secured(document), merged, slugOf(name)));
  return { ...merged, ...version(documents) };
}

function titleOf(document: Obj): string {
  const title = objectOf(document['info'])['title'];
  return typeof title === 'string' ? title : '';
}

function slugOf(name: string): string {
  return name.replace(/\.[^.]*$/, '').replace(/[^A-Za-z0-9]+/g, '_');
}

/** The newest of the documents' versions: each reads what older ones hold. */
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

function unite(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  const known = new Set(a.map((each) => JSON.stringify(each)));
  return [...a, ...b.filter((each) => !known.has(JSON.stringify(each)))];
}

/** A requirement for the whole document goes onto its operations: the other documents do not have it. */
function secured(document: Obj): Obj {
  const { security, paths } = document;
  if (security === undefined || !isObject(paths)) return document;
  const onOperations = Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(objectOf(item)).map(([method, operation]) => [
          method,
          METHODS.has(method) && isObject(operation) ? { security, ...operation } : operation,
        ]),
      ),
    ]),
  );
  return { ...document, paths: onOperations };
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']);
