/** How the fields of a form are read: the properties of its schema with OpenAPI's `encoding` (3.1, section 4.8.15). */
import type { FormField, ParameterStyle } from '../../artifact/format.ts';
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { type Documents, type Located, member } from '../../spec/documents.ts';
import { flagOf } from '../../spec/flag.ts';
import { followedPart } from '../../spec/follow-object.ts';
import { get, isObject } from '../../spec/json.ts';
import { schemaMapAt } from '../../spec/merged-reference.ts';
import { itemTypes, mayBeFile, propertyTypes, typesOf } from '../schemas/schema-types.ts';

export const URLENCODED = 'application/x-www-form-urlencoded';
export const MULTIPART = 'multipart/form-data';
const STYLES: readonly ParameterStyle[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'];

export function isForm(type: string): boolean {
  return type === URLENCODED || type === MULTIPART;
}

interface FieldDeps {
  readonly documents: Documents;
  readonly diagnostics: Diagnostics;
}

export function formFieldsOf(media: Located, type: string, { documents, diagnostics }: FieldDeps): FormField[] {
  const properties = new Map<string, Located>();
  gather(member(media, 'schema'), documents, properties, new Set());
  const part = (at: Located, what: string) => followedPart(at, what, documents, diagnostics);
  const encodings = part(member(media, 'encoding'), '"encoding"');
  return [...properties].map(([name, schema]) => {
    const encoding = part(member(encodings, name), 'an encoding');
    return fieldOf(name, schema, encoding, type, { documents, diagnostics });
  });
}

function gather(schema: Located, documents: Documents, found: Map<string, Located>, seen: Set<object>): void {
  const at = documents.follow(schema);
  if (!at || !isObject(at.value) || seen.has(at.value)) return;
  seen.add(at.value);
  const properties = schemaMapAt(member(at, 'properties'), documents);
  for (const name of isObject(properties.value) ? Object.keys(properties.value) : []) {
    if (!found.has(name)) found.set(name, member(properties, name));
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const list = member(at, keyword);
    if (!Array.isArray(list.value)) continue;
    for (let i = 0; i < list.value.length; i++) gather(member(list, i), documents, found, seen);
  }
}

function fieldOf(
  name: string,
  schema: Located,
  encoding: Located,
  type: string,
  { documents, diagnostics }: FieldDeps,
): FormField {
  const explode = flagOf(encoding, 'explode', diagnostics);
  const types = typesOf(schema, documents);
  const items = types.includes('array') ? itemTypes(schema, documents) : [];
  const style = STYLES.find((each) => each === get(encoding.value, 'style'));
  const contentType = get(encoding.value, 'contentType');
  const declared = typeof contentType === 'string' ? contentType.toLowerCase().split(',').map(withoutParameters) : [];
  const styled = type === URLENCODED && (style !== undefined || typeof explode === 'boolean');
  // Without a style, structured values are written as JSON (OpenAPI 3.1, section 4.8.15.1.1).
  const structured = types.includes('array') ? items.includes('object') : types.includes('object');
  const isBinary = get(documents.follow(schema)?.value, 'format') === 'binary';
  const usual = structured ? 'application/json' : isBinary ? 'application/octet-stream' : 'text/plain';
  // Stating the default asks for no more than leaving it out does.
  const asksForType = declared.length > 1 || (declared.length === 1 && declared[0] !== usual);
  const isText = !structured && !asksForType && isTyped(types, items) && !mayBeFile(schema, documents);
  const written = declared[0] ?? (structured ? 'application/json' : undefined);
  return {
    name,
    style: style ?? 'form',
    explode: typeof explode === 'boolean' ? explode : (style ?? 'form') === 'form',
    ...(written !== undefined && !styled ? { content_type: written } : {}),
    ...(asksForType && type === MULTIPART ? { part_types: declared } : {}),
    ...(isText && type === MULTIPART ? { is_text: true } : {}),
    types,
    ...(items.length > 0 ? { item_types: items } : {}),
    ...(styled && types.includes('object') ? { property_types: propertyTypes(schema, documents) } : {}),
  };
}

/** A schema without types describes a file too (OpenAPI 3.1, section 4.8.14.2). */
function isTyped(types: readonly string[], items: readonly string[]): boolean {
  return types.length > 0 && (!types.includes('array') || items.length > 0);
}

function withoutParameters(type: string): string {
  return (type.split(';')[0] ?? '').trim();
}
