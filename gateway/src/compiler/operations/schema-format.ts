/** AsyncAPI's schemas with a `schemaFormat` ("Multi Format Schema Object", AsyncAPI 3.0). */
import { type Located, member, placeOf } from '../../spec/documents.ts';
import { get, kindOf } from '../../spec/json.ts';
import { pointerTokens } from '../../spec/pointer.ts';
import type { Dialect } from '../../spec/recognise.ts';
import type { Deps } from './parameters.ts';

export interface TypedSchema {
  readonly at: Located;
  readonly dialect: Dialect;
}

const FORMATS: readonly (readonly [format: RegExp, dialect: Dialect])[] = [
  [/^application\/vnd\.aai\.asyncapi(\+json|\+yaml)?(;version=[23]\.\d+\.\d+)?$/, 'draft-07'],
  [/^application\/schema\+(json|yaml)(;version=draft-0[67])?$/, 'draft-07'],
  [/^application\/schema\+(json|yaml);version=(draft\/)?2020-12$/, '2020-12'],
  [/^application\/vnd\.oai\.openapi(\+json|\+yaml)?;version=3\.0\.\d+$/, '3.0'],
  [/^application\/vnd\.oai\.openapi(\+json|\+yaml)?;version=3\.[12]\.\d+$/, '2020-12'],
];

function dialectOf(format: unknown): Dialect | undefined {
  const text = typeof format === 'string' ? format.toLowerCase().replaceAll(/\s/g, '') : '';
  return FORMATS.find(([pattern]) => pattern.test(text))?.[1];
}

/** Reports whether a place lies within a schema of an unsupported format, whose references have their own meaning. */
export function isWithinUnread(root: unknown, pointer: string): boolean {
  let at: unknown = root;
  for (const token of pointerTokens(pointer) ?? []) {
    const format = get(at, 'schemaFormat');
    if (token === 'schema' && typeof format === 'string' && dialectOf(format) === undefined) return true;
    at = Array.isArray(at) ? at[Number(token)] : get(at, token);
  }
  return false;
}

/** Returns null, and reports E1008, if its format is unsupported: then any value passes. */
export function schemaOf(declared: Located, { documents, diagnostics }: Deps): TypedSchema | null {
  const at = documents.follow(declared);
  const format = at ? member(at, 'schemaFormat') : null;
  if (!at || !format || format.value === undefined) return { at: declared, dialect: 'draft-07' };
  const schema = member(at, 'schema');
  const known = dialectOf(format.value);
  if (known && schema.value !== undefined) return { at: schema, dialect: known };
  if (typeof format.value !== 'string' || get(at.value, 'schema') === undefined) {
    const wrong = typeof format.value === 'string' ? schema : format;
    diagnostics.add(
      'E1004',
      placeOf(at),
      `"${wrong === schema ? 'schema' : 'schemaFormat'}" beside it is ${kindOf(wrong.value)}`,
      'Write {schemaFormat: <media type>, schema: <the schema>}.',
    );
    return null;
  }
  diagnostics.add(
    'E1008',
    placeOf(format),
    `schemaFormat "${format.value.slice(0, 80)}" is not read: what it describes is not validated`,
    'Use an AsyncAPI schema, JSON Schema (draft 06, draft 07, 2020-12) or an OpenAPI 3 schema to have messages validated: others let any value pass.',
  );
  return null;
}
