/**
 * Security requirements of an operation: which schemes it names, and where their credentials travel
 * (docs/reference/gateway.md#header-admission).
 */
import type { Diagnostics } from '../spec/diagnostic.ts';
import { type Documents, type Located, member, placeOf } from '../spec/documents.ts';
import { followed, followObject } from '../spec/follow-object.ts';
import { get, isObject } from '../spec/json.ts';
import type { DeclaredOperation } from '../spec/operations.ts';
import type { Spec } from '../spec/recognise.ts';

export interface Security {
  /** Some requirement names a scheme that exists. */
  readonly named: boolean;
  /** Lower-case headers that carry credentials. */
  readonly headers: readonly string[];
}

/** What a request carries: the config of `mock` says it so (`credentials`). */
export type Credential = {
  readonly in: 'header' | 'query' | 'cookie';
  readonly name: string;
  /** Authentication scheme that the header's value begins with. */
  readonly scheme?: string;
};

/**
 * What an operation of an OpenAPI document asks of its callers: alternatives, each with all that it takes; empty where
 * it asks for nothing, or nothing is an alternative. Client certificates count as shown.
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
/** Of AsyncAPI 3. */
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

/** What a requirement of an OpenAPI document names, whether it is there or not. */
export function namedSchemes(
  { document }: Spec,
  requirement: Located,
  documents: Documents,
): readonly { readonly name: string; readonly scheme: Located }[] {
  const root: Located = { document, pointer: '', value: document.value };
  const nothing = { ...root, value: undefined };
  const components = documents.follow(member(root, 'components')) ?? nothing;
  const schemes = documents.follow(member(components, 'securitySchemes')) ?? nothing;
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
        );
        return [];
      }
      return followed(scheme, documents, diagnostics) ?? [];
    }),
  );
}

function openapiHeadersOf(scheme: Located, diagnostics: Diagnostics): readonly string[] {
  const type = get(scheme.value, 'type');
  if (!TYPES.some((each) => each === type)) {
    diagnostics.add('E1004', placeOf(scheme), `a security scheme's "type" is one of ${TYPES.join(', ')}`);
    return [];
  }
  if (type === 'mutualTLS') return [];
  if (type !== 'apiKey') return ['authorization'];
  return keyHeadersOf(scheme, diagnostics);
}

/** Schemes of brokers carry nothing in HTTP; a user's name and password are Basic credentials there. */
function asyncHeadersOf(scheme: Located, diagnostics: Diagnostics): readonly string[] {
  const type = get(scheme.value, 'type');
  if (typeof type !== 'string' || !ASYNC_TYPES.includes(type)) {
    diagnostics.add('E1004', placeOf(scheme), `a security scheme's "type" is one of ${ASYNC_TYPES.join(', ')}`);
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
    );
    return [];
  }
  if (part === 'header' && name.toLowerCase().startsWith('x-auth-')) {
    diagnostics.add('E1056', placeOf(scheme), `the credential header "${name}" is in the reserved x-auth-* namespace`);
    return [];
  }
  return part === 'header' ? [name.toLowerCase()] : part === 'cookie' ? ['cookie'] : [];
}
