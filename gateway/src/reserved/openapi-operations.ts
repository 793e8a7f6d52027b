/** The operations of an OpenAPI document, at all places, and the document's settings for all of them. Pure. */
import { isObject, type Obj, objectOf } from '../spec/json.ts';

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']);

/** The document with each of its path items changed: paths, webhooks, and those of `components`. */
function withItems(document: Obj, change: (item: Obj, path: string) => Obj): Obj {
  const map = (items: unknown) =>
    Object.fromEntries(
      Object.entries(objectOf(items)).map(([path, item]) => [path, isObject(item) ? change(item, path) : item]),
    );
  const { paths, webhooks, components } = document;
  const pathItems = objectOf(components)['pathItems'];
  return {
    ...document,
    ...(isObject(paths) ? { paths: map(paths) } : {}),
    ...(isObject(webhooks) ? { webhooks: map(webhooks) } : {}),
    ...(isObject(pathItems) ? { components: { ...objectOf(components), pathItems: map(pathItems) } } : {}),
  };
}

/** A path item with its operations changed. */
function withOperations(item: Obj, change: (operation: Obj) => Obj): Obj {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => {
      if (METHODS.has(key) && isObject(value)) return [key, change(value)];
      // OpenAPI 3.2: methods without a member of their own.
      if (key === 'additionalOperations' && isObject(value)) {
        return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(objectOf(each))]))];
      }
      return [key, value];
    }),
  );
}

/** The ids of a document's operations, those of callbacks included. */
export function operationIds(document: Obj): ReadonlySet<string> {
  const ids = new Set<string>();
  const collect = (operation: Obj): Obj => {
    if (typeof operation['operationId'] === 'string') ids.add(operation['operationId']);
    for (const callback of Object.values(objectOf(operation['callbacks']))) ofCallback(callback);
    return operation;
  };
  const ofCallback = (callback: unknown) => {
    for (const item of Object.values(objectOf(callback))) withOperations(objectOf(item), collect);
  };
  withItems(document, (item) => withOperations(item, collect));
  for (const callback of Object.values(objectOf(objectOf(document['components'])['callbacks']))) ofCallback(callback);
  return ids;
}

/** Moves the document's security requirements to each operation: other documents have other ones. */
export function withOwnSecurity(document: Obj): Obj {
  const { security, ...rest } = document;
  if (security === undefined) return document;
  return withItems(rest, (item) => withOperations(item, (operation) => ({ security, ...operation })));
}

/** Moves the document's servers to each of its paths: other documents are served elsewhere. */
export function withOwnServers(document: Obj): Obj {
  const { servers, paths, ...rest } = document;
  if (servers === undefined || !isObject(paths)) return document;
  const moved = withItems({ paths }, (item) => ({ servers, ...item }));
  return { ...rest, ...moved };
}

/** Moves the shared members of the path items `at` to each of their operations: another document shares the path. */
export function withOwnItems(document: Obj, at: ReadonlySet<string>): Obj {
  const { paths } = document;
  if (!isObject(paths) || at.size === 0) return document;
  return {
    ...document,
    ...withItems({ paths }, (item, path) => {
      if (!at.has(path)) return item;
      const { parameters, servers, summary: _, description: __, ...rest } = item;
      return withOperations(rest, (operation) => ({
        ...(servers === undefined ? {} : { servers }),
        ...operation,
        ...(Array.isArray(parameters) ? { parameters: overridden(parameters, operation['parameters']) } : {}),
      }));
    }),
  };
}

/** An operation's parameters take the place of those of its path that have their name and place. */
function overridden(ofPath: readonly unknown[], ofOperation: unknown): unknown[] {
  const own = Array.isArray(ofOperation) ? ofOperation : [];
  const key = (each: unknown) => JSON.stringify([objectOf(each)['in'], objectOf(each)['name'], objectOf(each)['$ref']]);
  const known = new Set(own.map(key));
  return [...ofPath.filter((each) => !known.has(key(each))), ...own];
}
