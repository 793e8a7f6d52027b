/**
 * Security requirements of an operation: the schemes that it names, and the places of their credentials
 * (docs/reference/gateway.md#header-admission).
 */
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { type Documents, type Located, member, placeOf } from '../../spec/documents.ts';
import { followed, followObject } from '../../spec/follow-object.ts';
import { get, isObject, objectOf } from '../../spec/json.ts';
import { SECURITY_SCHEME, warnOfMisspelt } from '../../spec/misspelt-fields.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import type { Spec } from '../../spec/recognise.ts';
import { didYouMean } from '../../text/nearest-name.ts';

export interface Security {
  /** Some requirement names a scheme that exists. */
  readonly named: boolean;
  /** Lower-case headers that carry credentials. */
  readonly headers: readonly string[];
}

/** A credential that a request carries, in the form of `credentials` in the config of `mock`. */
export type Credential = {
  readonly in: 'header' | 'query' | 'cookie';
  readonly name: string;
  /** Authentication scheme that the header's value begins with. */
  readonly scheme?: string;
};

/**
 * Returns the credentials that an operation of an OpenAPI document requires: alternatives, each with all of its
 * credentials; empty if the operation requires none, or an alternative requires none. Client certificates count as shown.
 */
export function credentialsOf(
  { channel, spec, security }: DeclaredOperation,
  documents: Documents,
): readonly (readonly Credential[])[] {
  if (channel) return [];
  const alternatives = security.map((requirement) =>
    namedSchemes(spec, requirement, documents).flatMap(({ scheme }) => credentialOf(documents.follow(scheme)?.value)),
  );
  return alternatives.some(({ length }) => length === 0) ? [] : alternatives;
}

function credentialOf(scheme: unknown): readonly Credential[] {
  const [type, name, part] = [get(scheme, 'type'), get(scheme, 'name'), get(scheme, 'in')];
  if (type === 'mutualTLS') return [];
  if (type === 'apiKey') {
    const known = (['header', 'query', 'cookie'] as const).find((each) => each === part);
    return typeof name === 'string' && known !== undefined ? [{ in: known, name }] : [];
  }
  const http = get(scheme, 'scheme');
  const word = type === 'http' && typeof http === 'string' ? http : 'bearer';
  return [{ in: 'header', name: 'Authorization', scheme: `${word.slice(0, 1).toUpperCase()}${word.slice(1)}` }];
}

const TYPES = ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS'];
/** Types of AsyncAPI 3. */
const ASYNC_TYPES = [
  ...['userPassword', 'apiKey', 'X509', 'symmetricEncryption', 'asymmetricEncryption', 'httpApiKey', 'http'],
  ...['oauth2', 'openIdConnect', 'plain', 'scramSha256', 'scramSha512', 'gssapi'],
];

export function securityOf(declared: DeclaredOperation, documents: Documents, diagnostics: Diagnostics): Security {
  const schemes = declared.channel
    ? declared.security.flatMap((scheme) => followObject(scheme, 'a security scheme', documents, diagnostics) ?? [])
    : schemesOf(declared, documents, diagnostics);
  const headersOf = declared.channel ? asyncHeadersOf : openapiHeadersOf;
  const headers = new Set(schemes.flatMap((scheme) => headersOf(scheme, diagnostics)));
  return { named: schemes.length > 0, headers: [...headers] };
}

function declaredSchemes({ document }: Spec, documents: Documents): Located {
  const root: Located = { document, pointer: '', value: document.value };
  const nothing = { ...root, value: undefined };
  const components = documents.follow(member(root, 'components')) ?? nothing;
  return documents.follow(member(components, 'securitySchemes')) ?? nothing;
}

function schemeHint(name: string, spec: Spec, documents: Documents): string {
  const known = Object.keys(objectOf(declaredSchemes(spec, documents).value));
  const add = `add ${name}: { type: apiKey, in: header, name: X-API-Key } below components.securitySchemes`;
  return (
    didYouMean(name, known) ??
    (known.length === 0 ? `A${add.slice(1)}.` : `Name one of ${known.slice(0, 10).join(', ')}, or ${add}.`)
  );
}

function refuseType(scheme: Located, types: readonly string[], diagnostics: Diagnostics): void {
  const { value: type } = member(scheme, 'type');
  const shown = type === undefined ? 'missing' : JSON.stringify(type)?.slice(0, 60);
  const near = typeof type === 'string' ? didYouMean(type, types) : null;
  const place = placeOf(type === undefined ? scheme : member(scheme, 'type'));
  const hint = near ?? `Write type: ${types[0]}, or another of ${types.slice(1).join(', ')}.`;
  diagnostics.add('E1004', place, `"type" of a security scheme is ${shown}`, hint);
}

/** Returns the security schemes that a requirement of an OpenAPI document names, declared or not. */
export function namedSchemes(
  spec: Spec,
  requirement: Located,
  documents: Documents,
): readonly { readonly name: string; readonly scheme: Located }[] {
  const schemes = declaredSchemes(spec, documents);
  const names = isObject(requirement.value) ? Object.keys(requirement.value) : [];
  return names.map((name) => ({ name, scheme: member(schemes, name) }));
}

function schemesOf(
  { spec, security }: DeclaredOperation,
  documents: Documents,
  diagnostics: Diagnostics,
): readonly Located[] {
  return security.flatMap((requirement) =>
    namedSchemes(spec, requirement, documents).flatMap(({ name, scheme }) => {
      if (scheme.value === undefined) {
        diagnostics.add(
          'E1004',
          placeOf(member(requirement, name)),
          `security scheme "${name}" is not in components.securitySchemes`,
          schemeHint(name, spec, documents),
        );
        return [];
      }
      const found = followed(scheme, documents, diagnostics);
      if (found) warnOfMisspelt(found, SECURITY_SCHEME, diagnostics);
      return found ?? [];
    }),
  );
}

function openapiHeadersOf(scheme: Located, diagnostics: Diagnostics): readonly string[] {
  const type = get(scheme.value, 'type');
  if (!TYPES.some((each) => each === type)) {
    refuseType(scheme, TYPES, diagnostics);
    return [];
  }
  if (type === 'mutualTLS') return [];
  if (type !== 'apiKey') return ['authorization'];
  return keyHeadersOf(scheme, diagnostics);
}

/** Schemes of brokers have no headers in HTTP; a user's name and password are Basic credentials there. */
function asyncHeadersOf(scheme: Located, diagnostics: Diagnostics): readonly string[] {
  const type = get(scheme.value, 'type');
  if (typeof type !== 'string' || !ASYNC_TYPES.includes(type)) {
    refuseType(scheme, ASYNC_TYPES, diagnostics);
    return [];
  }
  if (type === 'httpApiKey') return keyHeadersOf(scheme, diagnostics);
  return ['http', 'oauth2', 'openIdConnect', 'userPassword'].includes(type) ? ['authorization'] : [];
}

function keyHeadersOf(scheme: Located, diagnostics: Diagnostics): readonly string[] {
  const [name, part] = [get(scheme.value, 'name'), get(scheme.value, 'in')];
  if (typeof name !== 'string' || name === '' || !['header', 'query', 'cookie'].some((each) => each === part)) {
    diagnostics.add(
      'E1004',
      placeOf(scheme),
      'the scheme of an API key needs "name", and "in": header, query or cookie',
      'Write { type: apiKey, in: header, name: X-API-Key }.',
    );
    return [];
  }
  if (part === 'header' && name.toLowerCase().startsWith('x-auth-')) {
    diagnostics.add('E1056', placeOf(scheme), `the credential header "${name}" is in the reserved x-auth-* namespace`);
    return [];
  }
  return part === 'header' ? [name.toLowerCase()] : part === 'cookie' ? ['cookie'] : [];
}
