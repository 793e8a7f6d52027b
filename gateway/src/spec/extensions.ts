/**
 * The `x-gw-*` extensions of an operation (docs/reference/gateway.md#extensions, docs/decisions.md#extension-places,
 * docs/decisions.md#no-dispatch-no-route).
 */

import type { Diagnostics } from './diagnostic.ts';
import { type Located, member, placeOf } from './documents.ts';
import type { JsonObject } from './json.ts';
import { get, isObject, kindOf } from './json.ts';
import { METHODS } from './operations.ts';

/** A plugin named by an operation, with the config given there. */
export interface DeclaredUse {
  readonly name: string;
  readonly config: JsonObject;
  /** The `{name, config}` object. */
  readonly at: Located;
}

const ON_OPERATIONS = new Set(['x-gw-dispatch', 'x-gw-middlewares', 'x-gw-validate-response']);

/** Whether the object below these keys is an operation. `root`: of its file. */
export function isOperation(within: readonly string[], root: unknown): boolean {
  const parent = within[within.length - 1];
  const above = within[within.length - 2];
  return (
    above === 'additionalOperations' ||
    above === 'operations' ||
    // Traits of AsyncAPI operations are merged into them.
    above === 'operationTraits' ||
    (parent === 'traits' && within[0] === 'operations') ||
    (above !== undefined && METHODS.some((method) => method === parent)) ||
    // The root of a file that is an operation of AsyncAPI, or a path item.
    (within.length === 0 && get(root, 'action') !== undefined && get(root, 'channel') !== undefined) ||
    (within.length === 1 && METHODS.some((method) => method === parent))
  );
}

/** Why an extension at this place is E1015; null if it is known and in place. `onOperation`: its object is one. */
export function misplaced(name: string, within: readonly string[], onOperation: boolean): string | null {
  if (name === 'x-gw-mcp' && (onOperation || within.length === 0)) return null;
  if (name === 'x-gw-mcp')
    return 'x-gw-mcp belongs at the root of a document or on an operation; here it has no effect';
  if (!ON_OPERATIONS.has(name)) return `unknown extension "${name}"`;
  return onOperation ? null : `${name} belongs on operations; here it has no effect`;
}

/** Undefined where there is none; null, and E1012, where it is malformed. */
export function dispatchOf(operation: Located, diagnostics: Diagnostics): DeclaredUse | null | undefined {
  const at = member(operation, 'x-gw-dispatch');
  if (at.value === undefined) return undefined;
  const name = get(at.value, 'name');
  if (typeof name !== 'string' || name === '') {
    diagnostics.add('E1012', placeOf(at), `x-gw-dispatch needs "name", the dispatcher`);
    return null;
  }
  return use(at, name, diagnostics);
}

export function middlewaresOf(operation: Located, diagnostics: Diagnostics): DeclaredUse[] {
  const list = member(operation, 'x-gw-middlewares');
  if (list.value === undefined) return [];
  if (!Array.isArray(list.value)) {
    diagnostics.add('E1012', placeOf(list), `x-gw-middlewares is ${kindOf(list.value)}: it must be a list`);
    return [];
  }
  return list.value.flatMap((_, i) => {
    const at = member(list, i);
    const name = get(at.value, 'name');
    if (typeof name !== 'string' || name === '') {
      diagnostics.add('E1011', placeOf(at), `middleware ${i + 1} has no name`);
      return [];
    }
    return use(at, name, diagnostics) ?? [];
  });
}

function use(at: Located, name: string, diagnostics: Diagnostics): DeclaredUse | null {
  const config = member(at, 'config');
  // `config:` with nothing after it is null in YAML.
  if (config.value !== undefined && config.value !== null && !isObject(config.value)) {
    diagnostics.add(
      'E1012',
      placeOf(config),
      `the config of "${name}" is ${kindOf(config.value)}: it must be an object`,
    );
    return null;
  }
  const other =
    isObject(at.value) &&
    Object.keys(at.value).find((key) => !['name', 'config'].includes(key) && !key.startsWith('x-'));
  if (other)
    diagnostics.add(
      'E1012',
      placeOf(member(at, other)),
      `"${other}" is not a field of a plugin use: settings belong under "config"`,
    );
  return { name, config: (config.value ?? {}) as JsonObject, at };
}

/** Returns undefined if the extension is absent, or is not a date (E1016). */
export function dateOf(
  operation: Located,
  extension: 'x-deprecated-at' | 'x-sunset',
  diagnostics: Diagnostics,
): Date | undefined {
  const at = member(operation, extension);
  if (at.value === undefined) return undefined;
  const date = typeof at.value === 'string' ? parseDate(at.value) : null;
  if (date !== null) return date;
  diagnostics.add('E1016', placeOf(at), `${extension} ${JSON.stringify(at.value)?.slice(0, 60)} is not a date`);
  return undefined;
}

/** Null where it is none of the three forms, or names a day that there is not, which `Date.parse` takes for a later one. */
function parseDate(text: string): Date | null {
  const iso = /^(\d{4}-\d{2}-\d{2})([Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$/.exec(text);
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return null;
  if (iso?.[1] === undefined) return date.toUTCString() === text ? date : null;
  return new Date(iso[1]).toISOString().startsWith(iso[1]) ? date : null;
}
