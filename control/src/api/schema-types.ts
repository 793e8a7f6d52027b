/** Types that many schemas of the REST API use (docs/reference/control-plane.md#operations). */
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';

/** A JSON value, as in the compiler. */
type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** In the server's form: with `urn:uuid:` or capitals it is another text, which no database column equals. */
const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

export const Uuid = (description: string) => Type.String({ format: 'uuid', pattern: UUID, description });

export const Timestamp = (description: string) => Type.String({ format: 'date-time', description });

/** Schema of a member that is always present, with null for no value. */
export const Nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ anyOf: [schema, { type: 'null' }] });

/** Schema of one of these strings. */
export const OneOf = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], description });

/** Schema of an object with these properties only. */
export const Closed = <T extends TProperties>(properties: T, options: { $id?: string; description?: string } = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false });

/** Schema of a body or a record with its own name in the OpenAPI document. */
export const Named = <T extends TProperties>(name: string, properties: T, description: string): TObject<T> =>
  Closed(properties, { $id: name, description });

/** A reference to a named schema; `as` is its name in the document. */
export const RefTo = <T extends TSchema>(_schema: T, as: string) => Type.Unsafe<Static<T>>({ $ref: as });

/** Schema of a list of resources with a named schema. */
export const ArrayOf = <T extends TSchema>(schema: T) =>
  Type.Unsafe<readonly Static<T>[]>(Type.Array(RefTo(schema, `${(schema as { readonly $id?: string }).$id}#`)));

/** Schema of any JSON object. */
export const AnyObject = (description: string) =>
  Type.Unsafe<{ readonly [name: string]: unknown }>({ type: 'object', additionalProperties: true, description });

/** Schema of a name for people that can stand in a path without encoding. */
export const Name = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 63,
    pattern: '^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$',
    description: `${description} Letters, digits and \`.\`, \`_\`, \`-\` between them; at most 63.`,
  });

/** Schema of a line of text for people. */
export const Line = (description: string) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$', description });

export const Sha256 = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description });

export const ArtifactHash = (description: string) => Type.String({ pattern: '^sha256:[0-9a-f]{64}$', description });

/** Query parameters of every list (docs/reference/control-plane.md#lists): page size and cursor. */
export const pageQuery = <const S extends readonly string[]>(sorts: S, standard: S[number] | `-${S[number]}`) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Most items of the answer.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 4000,
      pattern: '^[A-Za-z0-9_-]*$',
      description: 'Where to go on: from the `next` link of the `Link` header of the page before.',
    }),
  ),
  sort: Type.Optional(
    OneOf(
      sorts.flatMap((field) => [field, `-${field}`]),
      `Order of the list; a leading \`-\` reverses it. Default \`${standard}\`.`,
    ),
  ),
});
