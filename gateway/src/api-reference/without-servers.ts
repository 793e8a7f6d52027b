/** Removes the servers from a document, for a page that sends requests to the gateway. Pure. */
import { isObject } from '../spec/json.ts';

/**
 * Removes the servers of the root, path items, operations and links; keeps examples, schemas and extensions as they
 * are.
 */
export function withoutServers(document: unknown): unknown {
  if (!isObject(document)) return document;
  const { servers: _, paths, webhooks, ...rest } = document;
  return {
    ...rest,
    ...(paths === undefined ? {} : { paths: items(paths) }),
    ...(webhooks === undefined ? {} : { webhooks: items(webhooks) }),
  };
}

function items(value: unknown): unknown {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([path, item]) => [path, withoutOwn(item, true)]))
    : value;
}

/** Removes the servers of a path item and its operations, or of one operation. */
function withoutOwn(value: unknown, isItem: boolean): unknown {
  if (!isObject(value)) return value;
  const { servers: _, ...rest } = value;
  if (!isItem) return rest;
  return Object.fromEntries(
    Object.entries(rest).map(([name, each]) => [name, name === 'parameters' ? each : withoutOwn(each, false)]),
  );
}
