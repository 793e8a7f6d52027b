/** Finds fields and keywords that a document probably misspells (E1078), since they would silently have no effect. */

import { nearestName } from '../text/nearest-name.ts';
import type { Diagnostics } from './diagnostic.ts';
import { type Located, member, placeOf } from './documents.ts';
import { isObject } from './json.ts';

/** The name of a kind of object, in words, and the fields that its specification gives it. */
export interface KnownFields {
  readonly what: string;
  readonly names: ReadonlySet<string>;
  /** Names of other languages, with the fields that say the same here. Default: none. */
  readonly otherwise?: ReadonlyMap<string, string>;
}

const fields = (what: string, names: string): KnownFields => ({ what, names: new Set(names.split(' ')) });

export const OPENAPI_ROOT = fields(
  'an OpenAPI document',
  'openapi $self info jsonSchemaDialect servers paths webhooks components security tags externalDocs',
);
export const ASYNCAPI_ROOT = fields(
  'an AsyncAPI document',
  'asyncapi id info servers defaultContentType channels operations components',
);
export const INFO = fields(
  '"info"',
  'title summary description termsOfService contact license version tags externalDocs',
);
export const PATH_ITEM = fields(
  'a path',
  '$ref summary description get put post delete options head patch trace query additionalOperations servers parameters',
);
export const OPERATION = fields(
  'an operation',
  '$ref tags summary description externalDocs operationId parameters requestBody responses callbacks deprecated security servers',
);
export const ASYNC_OPERATION = fields(
  'an operation',
  '$ref action channel title summary description security tags externalDocs bindings traits messages reply',
);
export const PARAMETER = fields(
  'a parameter',
  '$ref name in description required deprecated allowEmptyValue style explode allowReserved schema example examples content',
);
export const REQUEST_BODY = fields('a request body', '$ref description content required');
export const RESPONSE = fields('a response', '$ref summary description headers content links');
export const MEDIA_TYPE = fields(
  'a media type',
  '$ref schema itemSchema example examples encoding prefixEncoding itemEncoding',
);
export const SECURITY_SCHEME = fields(
  'a security scheme',
  '$ref type description name in scheme bearerFormat flows openIdConnectUrl oauth2MetadataUrl deprecated',
);

/** Unknown names of an object that are compared; a limit, since documents are untrusted. */
const MOST_UNKNOWN = 100;

/** Warns of members whose names are near that of a field which the object lacks. */
export function warnOfMisspelt(at: Located, { what, names, otherwise }: KnownFields, diagnostics: Diagnostics): void {
  if (!isObject(at.value)) return;
  const given = at.value;
  const unknown = Object.keys(given).filter((name) => !names.has(name) && !name.startsWith('x-'));
  for (const name of unknown.slice(0, MOST_UNKNOWN)) {
    const nearest = otherwise?.get(name) ?? nearestName(name, names);
    if (nearest === null || Object.hasOwn(given, nearest)) continue;
    const message = `"${name}" is not a field of ${what}, and has no effect`;
    diagnostics.add('E1078', placeOf(member(at, name)), message, `Did you mean "${nearest}"?`);
  }
}
