/** Parameters as routes.json carries them: styles with their defaults, schemas by reference. */
import type { Parameter, ParameterIn, ParameterStyle } from '../../artifact/format.ts';
import { isJson } from '../../headers/media-type.ts';
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { type Documents, type Located, member, placeOf } from '../../spec/documents.ts';
import { flagOf } from '../../spec/flag.ts';
import { followed, followedPart } from '../../spec/follow-object.ts';
import { get, isObject } from '../../spec/json.ts';
import { warnOfMisspelt } from '../../spec/misspelt-fields.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import type { Dialect } from '../../spec/recognise.ts';
import { SCHEMA_KEYWORDS } from '../../spec/schema-keywords.ts';
import { didYouMean } from '../../text/nearest-name.ts';
import type { SchemaTable } from '../schemas/schema-table.ts';
import { itemTypes, propertyTypes, typesOf } from '../schemas/schema-types.ts';
import { formFieldsOf, URLENCODED } from './form-fields.ts';

const STYLES: Readonly<Record<ParameterIn, readonly ParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  querystring: ['form'],
  header: ['simple'],
  cookie: ['form', 'cookie'],
};

/**
 * Headers that OpenAPI excludes from parameters: such declarations are ignored. It excludes `Accept`, too, but
 * documents declare it all the same, with the value that their API requires (docs/decisions.md#accept-of-answers).
 */
export const NOT_PARAMETERS = new Set(['content-type', 'authorization']);

export interface Deps {
  readonly documents: Documents;
  readonly diagnostics: Diagnostics;
  readonly schemas: SchemaTable;
}

export function parametersOf({ parameters, spec }: DeclaredOperation, deps: Deps): Parameter[] {
  const whole = parameters.find(({ value }) => get(value, 'in') === 'querystring');
  if (whole && parameters.some((each) => each !== whole && String(get(each.value, 'in')).startsWith('query'))) {
    deps.diagnostics.add(
      'E1004',
      placeOf(whole),
      'a parameter in querystring is the whole query: there can be no other',
      'Remove the parameters in query, or describe them in the schema of this one.',
    );
  }
  return parameters.flatMap((declared) => parameterOf(declared, spec.dialect, deps) ?? []);
}

function parameterOf(declared: Located, dialect: Dialect, deps: Deps): Parameter | null {
  const { diagnostics } = deps;
  const part = partOf(get(declared.value, 'in'));
  const declaredName = String(get(declared.value, 'name'));
  const name = part === 'header' ? declaredName.toLowerCase() : declaredName;
  if (part === null) {
    const where = String(get(declared.value, 'in'));
    diagnostics.add(
      'E1004',
      placeOf(member(declared, 'in')),
      `a parameter is in path, query, querystring, header or cookie, not in "${where}"`,
      where === 'body' || where === 'formData'
        ? 'Describe the body under "requestBody": "in: body" is Swagger 2.0.'
        : (didYouMean(where, PARTS) ?? 'Write in: path, query, header or cookie.'),
    );
    return null;
  }
  if (part === 'header' && NOT_PARAMETERS.has(name)) return null;
  const style = styleOf(declared, part, diagnostics);
  const content = contentOf(declared, deps);
  const schema = content ? member(content.at, 'schema') : member(declared, 'schema');
  if (part === 'querystring' && !content) {
    diagnostics.add(
      'E1004',
      placeOf(declared),
      'a parameter in querystring needs "content" with one media type',
      'Write content: { application/x-www-form-urlencoded: { schema: { type: object } } } in place of "schema".',
    );
  }
  const flag = (flagName: string) => flagOf(declared, flagName, diagnostics);
  const explode = flag('explode');
  const required = flag('required') === true;
  return {
    name,
    in: part,
    required: part === 'path' || required,
    style,
    explode: explode ?? (style === 'form' || style === 'cookie'),
    ...(flag('allowReserved') ? { allow_reserved: true } : {}),
    ...(flag('allowEmptyValue') && part === 'query' ? { allow_empty_value: true } : {}),
    ...(content ? { content_type: content.type } : {}),
    ...(content && isStructured(content.type)
      ? parsedValueOf(schema, dialect, deps)
      : textValueOf(schema, dialect, deps)),
    ...(part === 'querystring' && content?.type === URLENCODED
      ? { fields: formFieldsOf(content.at, URLENCODED, deps) }
      : {}),
  };
}

/**
 * Returns how a parameter's text becomes a value, and its constraints. `schema`: its value is undefined if there is no
 * schema.
 */
export function textValueOf(
  schema: Located,
  dialect: Dialect,
  { documents, schemas, diagnostics }: Deps,
): Pick<Parameter, 'types' | 'item_types' | 'property_types' | 'schema'> {
  warnOfMisspelt(schema, SCHEMA_KEYWORDS, diagnostics);
  const types = schema.value === undefined ? [] : typesOf(schema, documents);
  const items = types.includes('array') ? itemTypes(schema, documents) : [];
  const free = schema.value === undefined || isAnyString(schema.value);
  const ref = free ? undefined : schemas.add(schema, dialect);
  return {
    types,
    ...(items.length > 0 ? { item_types: items } : {}),
    ...(types.includes('object') ? { property_types: propertyTypes(schema, documents) } : {}),
    ...(ref ? { schema: ref } : {}),
  };
}

/** Returns the types of values that are parsed, and have types of their own. */
function parsedValueOf(schema: Located, dialect: Dialect, { schemas }: Deps): Pick<Parameter, 'types' | 'schema'> {
  const ref = schema.value === undefined ? undefined : schemas.add(schema, dialect);
  return { types: [], ...(ref ? { schema: ref } : {}) };
}

function isStructured(type: string): boolean {
  return isJson(type) || type === URLENCODED;
}

const PARTS: readonly ParameterIn[] = ['path', 'query', 'querystring', 'header', 'cookie'];

function partOf(value: unknown): ParameterIn | null {
  return PARTS.find((each) => each === value) ?? null;
}

function styleOf(declared: Located, part: ParameterIn, diagnostics: Diagnostics): ParameterStyle {
  const styles = STYLES[part];
  const standard = styles[0] as ParameterStyle;
  const style = get(declared.value, 'style');
  if (style === undefined) return standard;
  const known = styles.find((each) => each === style);
  if (known) return known;
  diagnostics.add(
    'E1004',
    placeOf(member(declared, 'style')),
    `style ${JSON.stringify(style)} does not go with a parameter in ${part}`,
    `Write style: ${styles.join(' or ')}.`,
  );
  return standard;
}

/** A parameter with `content` has one media type. */
function contentOf(
  declared: Located,
  { documents, diagnostics }: Deps,
): { readonly type: string; readonly at: Located } | null {
  const content = followedPart(member(declared, 'content'), '"content"', documents, diagnostics);
  const type = isObject(content.value) ? Object.keys(content.value)[0] : undefined;
  const media = type === undefined ? null : followed(member(content, type), documents, diagnostics);
  return type === undefined || !media ? null : { type: mediaTypeOf(type), at: media };
}

/** Reports whether any text is valid, so that no check is needed. */
export function isAnyString(schema: unknown): boolean {
  if (!isObject(schema) || get(schema, 'type') !== 'string') return false;
  const validating = [
    'enum',
    'const',
    'pattern',
    'format',
    'minLength',
    'maxLength',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    'if',
    '$ref',
    '$dynamicRef',
  ];
  return !validating.some((name) => Object.hasOwn(schema, name));
}

/** Lower case, without parameters. */
export function mediaTypeOf(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase();
}
