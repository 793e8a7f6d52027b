/**
 * The `x-gw-*` extensions at their places (docs/reference/gateway.md#extensions, docs/decisions.md#extension-places,
 * docs/decisions.md#no-dispatch-no-route).
 */

import { didYouMean } from '../text/nearest-name.ts';
import type { Diagnostics } from './diagnostic.ts';
import { type Located, member, placeOf } from './documents.ts';
import type { JsonObject } from './json.ts';
import { get, isObject, kindOf } from './json.ts';
import { METHODS } from './operations.ts';

/** A plugin named by a document, with the config given there. */
export interface DeclaredUse {
  readonly name: string;
  readonly config: JsonObject;
  /** The `{name, config}` object. */
  readonly at: Located;
}

/** An entry of `x-gw-middlewares`. */
export interface DeclaredMiddleware {
  readonly id?: string;
  /** Absent if an entry only leaves another one out. */
  readonly name?: string;
  readonly enabled: boolean;
  /** Null if an entry only leaves another one out. */
  readonly use: DeclaredUse | null;
  readonly at: Located;
}

/** Extensions that operations have from around them, too. */
const INHERITED = new Set(['x-gw-dispatch', 'x-gw-middlewares']);
const ON_OPERATIONS = new Set(['x-gw-dispatch', 'x-gw-middlewares', 'x-gw-validate-response']);

/** Reports whether the object below these keys is an operation. `root`: of its file. */
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

/** The place of an extension. */
export interface ExtensionPlace {
  /** Keys that lead to its object. */
  readonly within: readonly string[];
  /** Root of its file. */
  readonly root: unknown;
  /** Its object is an operation. */
  readonly onOperation: boolean;
}

/** The extension that a misspelt one probably means, as a question; undefined if no known one is close. */
export function extensionHint(name: string): string | undefined {
  return didYouMean(name, [...ON_OPERATIONS, 'x-gw-mcp']) ?? undefined;
}

/** Returns why an extension at this place is E1015; null if it is known and in place. */
export function misplaced(name: string, { within, root, onOperation }: ExtensionPlace): string | null {
  if (name === 'x-gw-mcp' && (onOperation || within.length === 0)) return null;
  if (name === 'x-gw-mcp')
    return 'x-gw-mcp belongs at the root of a document or on an operation; here it has no effect';
  if (!ON_OPERATIONS.has(name)) return `unknown extension "${name}"`;
  if (onOperation) return null;
  if (!INHERITED.has(name)) return `${name} belongs on operations; here it has no effect`;
  if (isAround(within, root)) return null;
  return `${name} belongs at the root of a document, on path items or on operations; here it has no effect`;
}

/**
 * Reports whether it is the root of a document, or a path item, which may be a file of its own; callbacks and webhooks
 * do not inherit.
 */
function isAround(within: readonly string[], root: unknown): boolean {
  if (within.length === 0) {
    return ['openapi', 'asyncapi', ...METHODS].some((name) => get(root, name) !== undefined);
  }
  const above = within[within.length - 2];
  return above === 'paths' || above === 'pathItems';
}

/** `at`: the value of `x-gw-dispatch`. Returns null, with E1012, if it is malformed. */
export function dispatchAt(at: Located, diagnostics: Diagnostics): DeclaredUse | null {
  const name = get(at.value, 'name');
  if (typeof name !== 'string' || name === '') {
    diagnostics.add('E1012', placeOf(at), `x-gw-dispatch needs "name", the dispatcher`);
    return null;
  }
  return use(at, name, ['name', 'config'], diagnostics);
}

/** Returns middlewares that `holder` has itself. */
export function middlewaresAt(holder: Located, diagnostics: Diagnostics): DeclaredMiddleware[] {
  const list = member(holder, 'x-gw-middlewares');
  if (list.value === undefined) return [];
  if (!Array.isArray(list.value)) {
    diagnostics.add('E1012', placeOf(list), `x-gw-middlewares is ${kindOf(list.value)}: it must be a list`);
    return [];
  }
  return list.value.flatMap((_, i) => middlewareAt(member(list, i), i, diagnostics) ?? []);
}

function middlewareAt(at: Located, index: number, diagnostics: Diagnostics): DeclaredMiddleware | null {
  const [id, enabled] = [member(at, 'id'), member(at, 'enabled')];
  if (id.value !== undefined && (typeof id.value !== 'string' || id.value === '')) {
    diagnostics.add('E1012', placeOf(id), `"id" of a middleware is ${kindOf(id.value)}: it must be a text`);
    return null;
  }
  if (enabled.value !== undefined && typeof enabled.value !== 'boolean') {
    diagnostics.add(
      'E1012',
      placeOf(enabled),
      `"enabled" of a middleware is ${kindOf(enabled.value)}: it must be a boolean`,
    );
    return null;
  }
  const entry = { ...(id.value === undefined ? {} : { id: id.value }), enabled: enabled.value ?? true, at };
  const name = get(at.value, 'name');
  if (typeof name !== 'string' || name === '') {
    if (!entry.enabled && entry.id !== undefined) return { ...entry, use: null };
    diagnostics.add('E1011', placeOf(at), `middleware ${index + 1} has no name`);
    return null;
  }
  const declared = use(at, name, ['name', 'config', 'id', 'enabled'], diagnostics);
  if (declared === null) return null;
  const onlyDrops = !entry.enabled && get(at.value, 'config') === undefined;
  return { ...entry, name, use: onlyDrops ? null : declared };
}

function use(at: Located, name: string, fields: readonly string[], diagnostics: Diagnostics): DeclaredUse | null {
  const config = member(at, 'config');
  // `config:` without a value is null in YAML.
  if (config.value !== undefined && config.value !== null && !isObject(config.value)) {
    diagnostics.add(
      'E1012',
      placeOf(config),
      `the config of "${name}" is ${kindOf(config.value)}: it must be an object`,
    );
    return null;
  }
  const other =
    isObject(at.value) && Object.keys(at.value).find((key) => !fields.includes(key) && !key.startsWith('x-'));
  if (other)
    diagnostics.add(
      'E1012',
      placeOf(member(at, other)),
      `"${other}" is not a field of a plugin use: settings belong under "config"`,
      didYouMean(other, fields) ?? `Move "${other}" below "config".`,
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

/**
 * Returns null if the text has none of the three forms, or names a day that does not exist, which `Date.parse` takes
 * for a later one.
 */
function parseDate(text: string): Date | null {
  const iso = /^(\d{4}-\d{2}-\d{2})([Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$/.exec(text);
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return null;
  if (iso?.[1] === undefined) return date.toUTCString() === text ? date : null;
  return new Date(iso[1]).toISOString().startsWith(iso[1]) ? date : null;
}
