/** One walk over a document for what may stand anywhere in it: `$ref`s and `x-gw-*` extensions. */
import type { Document } from './documents.ts';
import { isObject } from './json.ts';
import { child } from './pointer.ts';

export interface Visitor {
  /** `base`: pointer of the enclosing schema with an `$id`, or ``. */
  ref(ref: string, pointer: string, base: string): void;
  /** `within`: the keys above, nearest last; at most three. */
  extension(name: string, pointer: string, within: readonly string[]): void;
}

/** Their members are data, in which `$ref` means nothing. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const']);
/** The keys of their members are names, whatever they look like. */
const NAMED = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'],
  ...['schemas', 'responses', 'parameters', 'requestBodies', 'headers', 'securitySchemes', 'links', 'callbacks'],
  ...['pathItems', 'paths', 'content', 'channels', 'operations', 'messages', 'encoding', 'webhooks'],
]);

export function walk({ value }: Document, visitor: Visitor): void {
  visit(value, '', [], false, '', visitor);
}

function visit(
  value: unknown,
  pointer: string,
  within: readonly string[],
  named: boolean,
  base: string,
  visitor: Visitor,
): void {
  if (Array.isArray(value)) {
    value.forEach((each, i) => {
      if (typeof each === 'object') visit(each, child(pointer, i), within, false, base, visitor);
    });
    return;
  }
  if (!isObject(value)) return;
  const inner = !named && typeof value['$id'] === 'string' ? pointer : base;
  for (const [key, each] of Object.entries(value)) {
    if (!named) {
      if ((key === '$ref' || key === '$dynamicRef') && typeof each === 'string') {
        visitor.ref(each, child(pointer, key), inner);
        continue;
      }
      if (key.startsWith('x-')) {
        if (key.startsWith('x-gw-')) visitor.extension(key, child(pointer, key), within);
        continue;
      }
      if (DATA.has(key)) continue;
    }
    if (typeof each !== 'object' || each === null) continue;
    visit(each, child(pointer, key), [...within.slice(-2), key], !named && NAMED.has(key), inner, visitor);
  }
}
