/**
 * Issuers of tokens for an operation, and the scopes: as its security requirements say, and the plugins that check them
 * (docs/mcp.md#authorization).
 */
import type { Json, Operation } from '../../artifact/format.ts';
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { type Documents, member } from '../../spec/documents.ts';
import { followed } from '../../spec/follow-object.ts';
import { get } from '../../spec/json.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import { namedSchemes } from '../operations/security.ts';

export interface ToolAuthorization {
  /** Issuers, as they identify themselves. */
  readonly servers: readonly string[];
  readonly scopes: readonly string[];
}

interface Deps {
  readonly documents: Documents;
  readonly diagnostics: Diagnostics;
}

const TOKEN_SCHEMES = ['oauth2', 'openIdConnect'];
/** Member of a plugin's config that names the issuer; `oauth2-auth` knows none. */
const ISSUER_OF: Readonly<Record<string, string | null>> = {
  'jwt-auth': 'issuer',
  'oidc-auth': 'issuer_url',
  'oauth2-auth': null,
};
/** Between an issuer's host and its path, or after both. */
const WELL_KNOWN = /\/\.well-known\/(openid-configuration|oauth-authorization-server)/;
/** A scope (RFC 6749, section 3.3), as challenges require. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

export function toolAuthorization(declared: DeclaredOperation, operation: Operation, deps: Deps): ToolAuthorization {
  const declares = declared.channel ? [] : requirementsOf(declared, deps);
  const first = declares.find(({ scopes }) => scopes.length > 0);
  const plugins = operation.middlewares.flatMap(({ name, config }) => {
    const issuer = Object.hasOwn(ISSUER_OF, name) ? ISSUER_OF[name] : undefined;
    return issuer === undefined ? [] : [pluginSays(config, issuer)];
  });
  return {
    servers: unique([...declares, ...plugins].flatMap(({ servers }) => servers)),
    scopes: unique([...(first?.scopes ?? []), ...plugins.flatMap(({ scopes }) => scopes)]),
  };
}

/** Returns the requirements of each alternative: any one of them is enough. */
function requirementsOf(declared: DeclaredOperation, deps: Deps): readonly ToolAuthorization[] {
  return declared.security.map((requirement) => {
    const tokens = namedSchemes(declared.spec, requirement, deps.documents).flatMap(({ name, scheme }) => {
      const { value } = followed(scheme, deps.documents, deps.diagnostics) ?? {};
      return TOKEN_SCHEMES.some((type) => get(value, 'type') === type) ? [{ name, value }] : [];
    });
    const scopes = tokens.flatMap(({ name }) => listOf(member(requirement, name).value));
    const urls = tokens.flatMap(({ value }) => [get(value, 'openIdConnectUrl'), get(value, 'oauth2MetadataUrl')]);
    return { servers: urls.flatMap((url) => issuerAt(url)), scopes };
  });
}

function listOf(scopes: unknown): readonly string[] {
  return (Array.isArray(scopes) ? scopes : []).filter((each) => typeof each === 'string' && SCOPE.test(each));
}

/** Returns the issuer whose metadata is at the URL. */
function issuerAt(url: unknown): readonly string[] {
  return typeof url === 'string' && WELL_KNOWN.test(url) ? issuer(url.replace(WELL_KNOWN, '')) : [];
}

function pluginSays(config: { readonly [name: string]: Json }, property: string | null): ToolAuthorization {
  const scopes = config['required_scopes'];
  return {
    servers: property === null ? [] : issuer(config[property]),
    scopes: typeof scopes === 'string' ? listOf(scopes.split(' ')) : [],
  };
}

/** Returns an empty list if the value is a reference, or not a URL for clients. */
function issuer(value: unknown): readonly string[] {
  return typeof value === 'string' && isIssuer(value) ? [value] : [];
}

/** Reports whether the text is an issuer, without query or fragment (RFC 8414, section 2), and without credentials. */
export function isIssuer(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { search, hash, username, password } = new URL(text);
  return search + hash + username + password === '';
}

export function isScope(text: string): boolean {
  return SCOPE.test(text);
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
