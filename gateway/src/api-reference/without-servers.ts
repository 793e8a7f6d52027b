/** A document for a page that sends requests to the gateway: without the servers that it names. Pure. */
import { isObject } from '../spec/json.ts';

/** Where OpenAPI has servers: the root, path items, operations and links; not in examples, schemas and extensions. */
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

/** A path item, or an operation of one. */
function withoutOwn(value: unknown, isItem: boolean): unknown {
  if (!isObject(value)) return value;
  const { servers: _, ...rest } = value;
  if (!isItem) return rest;
  return Object.fromEntries(
    Object.entries(rest).map(([name, each]) => [name, name === 'parameters' ? each : withoutOwn(each, false)]),
  );
}
