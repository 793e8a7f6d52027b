/** One walk over a document for things that may be anywhere in it: `$ref`s and `x-gw-*` extensions. */
import type { Document } from './document.ts';
import { isObject } from './json.ts';
import { child } from './pointer.ts';

export interface Visitor {
  /** `within`: the keys above, nearest last; at most three. */
  ref?(ref: string, pointer: string, within: readonly string[]): void;
  /** A reference in place of a text. */
  textRef?(pointer: string): void;
  /** `within`: as of `ref`. */
  extension?(name: string, pointer: string, within: readonly string[]): void;
  /** Objects with keywords as keys, before their content. */
  object?(value: object, pointer: string): void;
}

/** Keywords whose members are data, in which `$ref` has no meaning. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const']);
/** Texts that some tools replace by a reference to a text file. */
const TEXTS = new Set(['description', 'summary', 'title']);
/** The keys of their members are names, whatever they look like. */
const NAMED = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'],
  ...['schemas', 'responses', 'parameters', 'requestBodies', 'headers', 'securitySchemes', 'links', 'callbacks'],
  ...['pathItems', 'paths', 'content', 'channels', 'operations', 'messages', 'encoding', 'webhooks'],
]);

export function walk({ value }: Document, visitor: Visitor): void {
  visit(value, '', [], false, visitor);
}

function visit(value: unknown, pointer: string, within: readonly string[], named: boolean, visitor: Visitor): void {
  if (Array.isArray(value)) {
    value.forEach((each, i) => {
      if (typeof each === 'object') visit(each, child(pointer, i), within, false, visitor);
    });
    return;
  }
  if (!isObject(value)) return;
  if (!named) visitor.object?.(value, pointer);
  for (const [key, each] of Object.entries(value)) {
    // No map of names holds texts: one that has `$ref` stands elsewhere (docs/decisions.md#operation-references).
    if (key === '$ref' && typeof each === 'string') {
      visitor.ref?.(each, child(pointer, key), within);
      continue;
    }
    if (!named) {
      if (key === '$dynamicRef' && typeof each === 'string') {
        visitor.ref?.(each, child(pointer, key), within);
        continue;
      }
      if (key.startsWith('x-')) {
        if (key.startsWith('x-gw-')) visitor.extension?.(key, child(pointer, key), within);
        continue;
      }
      if (DATA.has(key)) continue;
      if (TEXTS.has(key) && isObject(each)) {
        if (typeof each['$ref'] === 'string') visitor.textRef?.(child(child(pointer, key), '$ref'));
        continue;
      }
    }
    if (typeof each !== 'object' || each === null) continue;
    visit(each, child(pointer, key), [...within.slice(-2), key], !named && isMapOfNames(key, each), visitor);
  }
}

function isMapOfNames(key: string, value: unknown): boolean {
  return NAMED.has(key) && !(key === 'headers' && isSchemaOfHeaders(value));
}

/** Headers of AsyncAPI messages are a schema, those of OpenAPI a map of names: only a schema has text in it. */
export function isSchemaOfHeaders(headers: unknown): boolean {
  return isObject(headers) && ['$ref', 'type', 'schemaFormat'].some((name) => typeof headers[name] === 'string');
}
