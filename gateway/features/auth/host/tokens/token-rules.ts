/** A plugin's rules for the tokens that it takes: the argument of `host_token_open` (sdk/ABI.md). */

import { isObject, type Obj } from '../../../kit.ts';
import type { IntrospectionRules } from './introspector.ts';
import type { Issuer } from './issuer-client.ts';
import { ALGORITHMS, type Algorithm, isAlgorithm } from './jws.ts';
import { httpUrl, milliseconds, readRules, TokenRulesError, text } from './rule-values.ts';

export type KeyRules =
  | { readonly kind: 'none' | 'unchecked' }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'issuer'; readonly issuer: Issuer }
  | { readonly kind: 'jwks'; readonly jwks: unknown }
  | { readonly kind: 'pem'; readonly pem: string };

export interface ReadJwtRules {
  readonly algorithms: ReadonlySet<Algorithm>;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly skewMs: number;
  readonly keys: KeyRules;
  readonly refreshMs: number;
  readonly timeoutMs: number;
}

export type TokenRules =
  | { readonly kind: 'jwt'; readonly rules: ReadJwtRules }
  | { readonly kind: 'introspection'; readonly rules: IntrospectionRules };

/** `text`: as `readRules` takes it. Throws TokenRulesError. */
export function readTokenRules(text: string, config: unknown): TokenRules {
  const given = readRules(text, config);
  const { jwt, introspection } = isObject(given) ? given : {};
  if (isObject(jwt)) return { kind: 'jwt', rules: jwtRules(jwt) };
  if (isObject(introspection)) return { kind: 'introspection', rules: introspectionRules(introspection) };
  throw new TokenRulesError('the rules need "jwt" or "introspection"');
}

function jwtRules(given: Obj): ReadJwtRules {
  const { algorithms = ALGORITHMS } = given;
  if (!Array.isArray(algorithms) || !algorithms.every(isAlgorithm)) {
    throw new TokenRulesError(`"algorithms" may hold ${ALGORITHMS.join(', ')}`);
  }
  const issuerUrl = text(given, 'issuer_url');
  return {
    algorithms: new Set(algorithms.filter(isAlgorithm)),
    issuer: text(given, 'issuer') ?? issuerUrl,
    audience: text(given, 'audience'),
    skewMs: milliseconds(given, 'clock_skew_seconds', 60),
    keys: keyRules(given, issuerUrl),
    refreshMs: Math.max(1_000, milliseconds(given, 'jwks_refresh_seconds', 300)),
    timeoutMs: milliseconds(given, 'timeout', 5),
  };
}

function keyRules(given: Obj, issuerUrl: string | undefined): KeyRules {
  const { jwks, skip_signature_validation: skip } = given;
  const [url, pem] = [text(given, 'jwks_url'), text(given, 'public_key')];
  const found: KeyRules[] = [];
  if (issuerUrl !== undefined) {
    found.push({ kind: 'issuer', issuer: { url: httpUrl(issuerUrl), overridden: given['issuer'] !== undefined } });
  }
  if (url !== undefined) found.push({ kind: 'url', url: httpUrl(url) });
  if (jwks !== undefined) found.push({ kind: 'jwks', jwks: typeof jwks === 'string' ? parsedKeys(jwks) : jwks });
  if (pem !== undefined) found.push({ kind: 'pem', pem });
  if (skip === true) found.push({ kind: 'unchecked' });
  if (found.length > 1) {
    throw new TokenRulesError('give one of jwks_url, jwks, public_key and skip_signature_validation, not several');
  }
  return found[0] ?? { kind: 'none' };
}

function parsedKeys(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TokenRulesError('jwks is not JSON');
  }
}

function introspectionRules(given: Obj): IntrospectionRules {
  const [url, clientId, clientSecret] = [text(given, 'url'), text(given, 'client_id'), text(given, 'client_secret')];
  if (url === undefined || clientId === undefined || clientSecret === undefined) {
    throw new TokenRulesError('introspection needs an endpoint, client_id and client_secret');
  }
  return {
    url: httpUrl(url),
    clientId,
    clientSecret,
    timeoutMs: milliseconds(given, 'timeout', 5),
    cacheMs: milliseconds(given, 'cache_ttl_seconds', 0),
  };
}
