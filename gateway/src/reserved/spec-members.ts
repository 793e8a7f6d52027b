/** Kinds of members of a document's objects: keywords, names that the author chose, or data. */
import { isSchemaOfHeaders } from '../spec/walk.ts';

/** Below these keys, names are the author's own and not keywords. */
const NAME_MAPS = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'schemas', 'responses', 'headers'],
  ...['parameters', 'examples', 'requestBodies', 'securitySchemes', 'links', 'callbacks', 'pathItems', 'mediaTypes'],
  ...['messages', 'operations', 'channels', 'servers', 'mapping', 'scopes', 'variables', 'encoding'],
]);
/** Keys whose values are data of the API, which stay unchanged. */
const DATA = new Set(['example', 'default', 'const', 'enum', 'value']);

/** The keys of this member are names. */
export function isNameMap(key: string, value: unknown): boolean {
  return NAME_MAPS.has(key) && !(key === 'headers' && isSchemaOfHeaders(value));
}

/** The value of this member is data. */
export function isData(key: string): boolean {
  return DATA.has(key);
}
