/**
 * Whether a bound plugin fits its operation (docs/reference/plugins.md#config): the path parameters that its config
 * names exist (E1030), and it serves the method (E1034). Otherwise every request would fail.
 */

import { marked, type PathParamsMark } from '../artifact/config-marks.ts';
import { parseTemplate } from '../router/template.ts';
import type { Diagnostics } from '../spec/diagnostic.ts';
import { placeOf } from '../spec/documents.ts';
import type { DeclaredUse } from '../spec/extensions.ts';
import type { DeclaredOperation } from '../spec/operations.ts';
import { valueAt } from '../spec/pointer.ts';
import type { BoundUse } from './admitted-headers.ts';
import { isReference } from './config-schema.ts';
import { placeInConfig } from './place-in-config.ts';

const FROM_PATH = '$request.path.';
const IN_BRACES = /\{([^{}]+)\}/g;

/** The path is well-formed (E1022). */
export function checkFit(
  { plugin, use }: BoundUse,
  declared: DeclaredUse,
  { method, path }: DeclaredOperation,
  diagnostics: Diagnostics,
): void {
  const { methods, pathParams } = plugin.marks;
  if (methods !== null && !methods.includes(method)) {
    const message = `"${plugin.name}" serves ${methods.join(' and ')}, not ${method} ${path}`;
    diagnostics.add('E1034', placeOf(declared.at), message);
  }
  if (pathParams.length === 0) return;
  const { names } = parseTemplate(path);
  const hint =
    names.length === 0
      ? 'Declare the parameter in the path, or remove its name from the config.'
      : `Path parameters here: ${names.join(', ')}.`;
  for (const mark of pathParams) {
    if (mark.unless !== null && valueAt(use.config, mark.unless) !== undefined) continue;
    for (const { pointer, value } of marked(use.config, mark.pointer)) {
      if (typeof value !== 'string' || isReference(value)) continue;
      for (const name of namedIn(value, mark.kind).filter((each) => !names.includes(each))) {
        const message = `plugin "${plugin.name}": "${pointer.slice(1)}" names path parameter "${name}", which ${path} does not have`;
        diagnostics.add('E1030', placeInConfig(declared, pointer), message, hint);
      }
    }
  }
}

/** A greedy parameter `name+` is named with or without its sign. */
function namedIn(value: string, kind: PathParamsMark['kind']): readonly string[] {
  const plain = (name: string) => name.replace(/\+$/, '');
  if (kind === 'template') return [...new Set([...value.matchAll(IN_BRACES)].map(([, name = '']) => plain(name)))];
  if (kind === 'name') return [plain(value)];
  return value.startsWith(FROM_PATH) ? [value.slice(FROM_PATH.length)] : [];
}
