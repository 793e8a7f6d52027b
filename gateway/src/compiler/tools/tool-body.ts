/** The body that a tool sends: of several media types the one that a model writes best. */
import type { SchemaRef } from '../../artifact/format.ts';
import type { ToolBodyEncoding } from '../../artifact/tools.ts';
import { isJson } from '../../headers/media-type.ts';
import { type Located, member } from '../../spec/documents.ts';
import { followed } from '../../spec/follow-object.ts';
import type { Json, JsonObject } from '../../spec/json.ts';
import { get, isObject } from '../../spec/json.ts';
import { schemaMapAt } from '../../spec/merged-reference.ts';
import type { Dialect } from '../../spec/recognise.ts';
import { MULTIPART, URLENCODED } from '../operations/form-fields.ts';
import { type Deps, mediaTypeOf } from '../operations/parameters.ts';
import { schemaOf } from '../operations/schema-format.ts';
import type { RoutedOperation } from './tool-operation.ts';

export interface BodySchema {
  readonly at: Located;
  readonly dialect: Dialect;
}

export interface BodySource {
  readonly contentType: string;
  readonly encoding: ToolBodyEncoding;
  readonly required: boolean;
  /** Null if it is not a single schema. */
  readonly schema: BodySchema | null;
  /** The schema of the argument that is all of the body. */
  value(): Json;
}

/** An object with properties that may be arguments by themselves. */
export interface PlainObject {
  readonly properties: ReadonlyMap<string, Json>;
  readonly required: ReadonlySet<string>;
  /** The schema of other properties; false if the document does not say that there are any. */
  readonly others: Json;
  /** Properties that are bytes, given as base64. */
  readonly binary: readonly string[];
}

/** Keywords of an object with constraints on its properties only. */
const PLAIN = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'title', 'description', 'example', 'examples'],
  ...['default', 'xml', 'externalDocs', 'deprecated', '$schema', '$comment', '$defs', 'nullable'],
]);
const BASE64: JsonObject = { type: 'string', contentEncoding: 'base64' };

export function bodySourceOf(routed: RoutedOperation, deps: Deps): BodySource | null {
  const { declared, operation } = routed;
  const { request_body: body } = operation;
  if (!body) return null;
  const types = Object.keys(body.content);
  const contentType = ORDER.flatMap((fits) => types.find(fits) ?? []).at(0);
  if (contentType === undefined) return null;
  const encoding = encodingOf(contentType);
  const schemas = declared.channel ? messageSchemas(routed, contentType, deps) : mediaSchema(routed, contentType, deps);
  const [first] = schemas;
  const schema = schemas.length === 1 && first ? first : null;
  const value = (): Json => {
    if (encoding === 'base64') return BASE64;
    if (encoding === 'text') return { type: 'string' };
    if (schemas.length === 0) return {};
    if (schema) return described(schema.at, schema.dialect, deps);
    const all = schemas.map(({ at, dialect }) => ({ located: at, dialect }));
    return written(deps.schemas.addAny(all, 'all'));
  };
  return { contentType, encoding, required: body.required, schema, value };
}

const isText = (type: string) => type.startsWith('text/') || /(\/|\+)(xml|yaml)$/.test(type);

/** Preferred types first. A range such as `image/*` names no sendable type. */
const ORDER: readonly ((type: string) => boolean)[] = [
  (type) => type === 'application/json',
  (type) => isJson(type) && !type.includes('*'),
  (type) => type === URLENCODED,
  (type) => type === MULTIPART,
  (type) => isText(type) && !type.includes('*'),
  (type) => !type.includes('*'),
  (type) => type === '*/*',
];

function encodingOf(type: string): ToolBodyEncoding {
  if (isJson(type) || type === '*/*') return 'json';
  if (type === URLENCODED) return 'form';
  if (type === MULTIPART) return 'multipart';
  return isText(type) ? 'text' : 'base64';
}

function mediaSchema({ declared }: RoutedOperation, contentType: string, deps: Deps): BodySchema[] {
  const { requestBody, spec } = declared;
  const content = requestBody ? deps.documents.follow(member(requestBody, 'content')) : null;
  if (!content || !isObject(content.value)) return [];
  const name = Object.keys(content.value).find((each) => mediaTypeOf(each) === contentType);
  const media = name === undefined ? null : followed(member(content, name), deps.documents, deps.diagnostics);
  const schema = media ? member(media, 'schema') : null;
  return schema && schema.value !== undefined ? [{ at: schema, dialect: spec.dialect }] : [];
}

/** Returns no schemas if one of the messages may be anything. */
function messageSchemas({ declared }: RoutedOperation, contentType: string, deps: Deps): BodySchema[] {
  const own = (declared.channel?.messages ?? []).filter((each) => mediaTypeOf(each.contentType) === contentType);
  const schemas = own.map(({ payload }) => (payload.value === undefined ? null : schemaOf(payload, deps)));
  return schemas.includes(null) ? [] : schemas.filter((each) => each !== null);
}

function described(schema: Located, dialect: Dialect, { schemas }: Deps): Json {
  return written(schemas.addDescribed(schema, dialect, 'request'));
}

/** Returns the schema, or else one that admits anything. */
function written(ref: SchemaRef | undefined): Json {
  return ref ? { $ref: ref.$ref } : {};
}

export function plainObjectOf({ at, dialect }: BodySchema, encoding: string, deps: Deps): PlainObject | null {
  const { documents } = deps;
  const object = documents.follow(at);
  if (!object || !isPlain(at, object)) return null;
  const declared = schemaMapAt(member(object, 'properties'), documents);
  const names = Object.keys(isObject(declared.value) ? declared.value : {}).filter(
    (name) => !isReadOnly(member(declared, name), deps),
  );
  const binary = encoding === 'json' ? [] : names.filter((name) => isBinary(member(declared, name), deps));
  const properties = names.map((name): [string, Json] => {
    const schema = member(declared, name);
    if (!binary.includes(name)) return [name, described(schema, dialect, deps)];
    const description = get(documents.follow(schema)?.value, 'description');
    const bytes = { ...BASE64, ...(typeof description === 'string' ? { description } : {}) };
    return [name, isArray(schema, deps) ? { type: 'array', items: bytes } : bytes];
  });
  const required = get(object.value, 'required');
  const others = member(object, 'additionalProperties');
  return {
    properties: new Map(properties),
    required: new Set(Array.isArray(required) ? required.filter((name) => names.includes(name)) : []),
    others: isObject(others.value) ? described(others, dialect, deps) : others.value === true,
    binary,
  };
}

function isPlain(declared: Located, { value }: Located): boolean {
  const beside = isObject(declared.value) ? Object.keys(declared.value).filter((key) => key !== '$ref') : [];
  const refers = get(declared.value, '$ref') !== undefined;
  if (refers && beside.some((key) => key !== 'description' && key !== 'summary')) return false;
  if (!isObject(value) || !isObject(value['properties']) || value['nullable'] === true) return false;
  if (value['type'] !== undefined && value['type'] !== 'object') return false;
  return Object.keys(value).every((key) => PLAIN.has(key) || key.startsWith('x-'));
}

function isReadOnly(property: Located, { documents }: Deps): boolean {
  return get(property.value, 'readOnly') === true || get(documents.follow(property)?.value, 'readOnly') === true;
}

/** OpenAPI 3.0 says `format: binary`; 3.1 a content type without an encoding. */
function isBinary(property: Located, deps: Deps): boolean {
  const target = deps.documents.follow(property);
  if (!target) return false;
  if (isArray(property, deps)) return isBinary(member(target, 'items'), deps);
  const { value } = target;
  const type = get(value, 'contentMediaType');
  const bytes =
    typeof type === 'string' && !isJson(type) && !isText(type) && get(value, 'contentEncoding') === undefined;
  return get(value, 'format') === 'binary' || bytes;
}

function isArray(property: Located, { documents }: Deps): boolean {
  const { value } = documents.follow(property) ?? {};
  return get(value, 'type') === 'array' && get(value, 'items') !== undefined;
}
