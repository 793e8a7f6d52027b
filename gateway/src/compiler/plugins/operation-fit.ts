/**
 * Decides whether a bound plugin fits its operation (docs/reference/plugins.md#config): the path parameters and the
 * members of its config that the config names exist (E1030), and it serves the method (E1034). Otherwise every request
 * would fail.
 */

import { marked, type PathParamsMark } from '../../artifact/config-marks.ts';
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { placeOf } from '../../spec/documents.ts';
import type { DeclaredUse } from '../../spec/extensions.ts';
import { isObject } from '../../spec/json.ts';
import { valueAt } from '../../spec/pointer.ts';
import { placeInConfig } from '../project/manifest-place.ts';
import type { BoundUse } from './admitted-headers.ts';
import { isReference } from './config-schema.ts';

const FROM_PATH = '$request.path.';
const IN_BRACES = /\{([^{}]+)\}/g;

/** The parts of an operation that plugins must fit. */
export interface FittedOperation {
  readonly method: string;
  readonly path: string;
  /** Names of the path's parameters. */
  readonly names: readonly string[];
}

export function checkFit(
  bound: BoundUse,
  declared: DeclaredUse,
  { method, path, names }: FittedOperation,
  diagnostics: Diagnostics,
): void {
  const { name, marks } = bound.plugin;
  if (marks.methods !== null && !marks.methods.includes(method)) {
    const message = `"${name}" serves ${marks.methods.join(' and ')}, not ${method} ${path}`;
    diagnostics.add('E1034', placeOf(declared.at), message);
  }
  for (const { pointer, param } of paramsNamed(bound)) {
    if (names.includes(param)) continue;
    const message = `plugin "${name}": "${pointer.slice(1)}" names path parameter "${param}", which ${path} does not have`;
    diagnostics.add('E1030', placeInConfig(declared, pointer), message, hintOf(names));
  }
  for (const { pointer, value, of } of strangers(bound)) {
    const message = `plugin "${name}": "${pointer.slice(1)}" is ${JSON.stringify(value)}, which is not a name in "${of.slice(1)}"`;
    diagnostics.add('E1030', placeInConfig(declared, pointer), message, 'Use a name that is there, or add it.');
  }
}

/** Returns config values that should name a member of an object in the config, but do not. */
function strangers({ plugin, use }: BoundUse) {
  return plugin.marks.members
    .flatMap(({ pointer, of }) => marked(use.config, pointer).map((place) => ({ ...place, of })))
    .filter(({ value, of }) => {
      const named = valueAt(use.config, of);
      return typeof value === 'string' && !isReference(value) && !(isObject(named) && Object.hasOwn(named, value));
    });
}

function hintOf(names: readonly string[]): string {
  if (names.length > 0) return `Use a path parameter of the operation: ${names.join(', ')}.`;
  return 'Declare the parameter in the path, or remove its name from the config.';
}

/** Returns the path parameters that a config names, with their places. */
function paramsNamed({ plugin, use }: BoundUse): readonly { readonly pointer: string; readonly param: string }[] {
  return plugin.marks.pathParams
    .filter(({ unless }) => unless === null || valueAt(use.config, unless) === undefined)
    .flatMap(({ pointer, kind }) => marked(use.config, pointer).map((place) => ({ ...place, kind })))
    .flatMap(({ pointer, value, kind }) =>
      typeof value !== 'string' || isReference(value) ? [] : namedIn(value, kind).map((param) => ({ pointer, param })),
    );
}

/** A greedy parameter `name+` is named with or without its sign. */
function namedIn(value: string, kind: PathParamsMark['kind']): readonly string[] {
  const plain = (name: string) => name.replace(/\+$/, '');
  if (kind === 'template') return [...new Set([...value.matchAll(IN_BRACES)].map(([, name = '']) => plain(name)))];
  if (kind === 'name') return [plain(value)];
  return value.startsWith(FROM_PATH) ? [value.slice(FROM_PATH.length)] : [];
}
