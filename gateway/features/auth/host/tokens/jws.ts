/** Reading a signed token (JWS compact serialisation, RFC 7515) without trusting anything in it yet (RFC 8725). */

import { get, type Obj } from '../../../kit.ts';
import { strictObject } from './strict-json.ts';
import { TokenRefused } from './token-refused.ts';

/** Signatures that the gateway verifies: each needs one type of key, and never a shared secret. */
export const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export function isAlgorithm(value: unknown): value is Algorithm {
  return ALGORITHMS.some((each) => each === value);
}

export interface ReadToken {
  readonly alg: Algorithm;
  /** Undefined if the token names no key. */
  readonly kid: string | undefined;
  readonly claims: Obj;
}

/** Characters of a token; longer ones are refused unread. */
export const MAX_TOKEN = 16_384;
const MAX_KID = 1_024;
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;
/**
 * Accepted types of a token (RFC 8725, section 3.11): others, such as `logout+jwt` or `secevent+jwt`, are signed with
 * the same keys and mean something else.
 */
const TYPES = new Set(['jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']);

/** Throws TokenRefused. */
export function readToken(token: string, algorithms: ReadonlySet<Algorithm>): ReadToken {
  if (token.length > MAX_TOKEN) throw new TokenRefused('the token is too long');
  const [, head, payload, signature] = COMPACT.exec(token) ?? [];
  if (head === undefined || payload === undefined || signature === undefined) {
    throw new TokenRefused('the token is not a signed JWT');
  }
  if (![head, payload, signature].every(isCanonical)) {
    throw new TokenRefused('a part of the token is not base64url as RFC 4648 has it: its spare bits are not zero');
  }
  const header = decoded(head);
  if (header === null) throw new TokenRefused("the token's header is not valid");
  const alg = get(header, 'alg');
  if (!isAlgorithm(alg) || !algorithms.has(alg)) throw new TokenRefused("the token's algorithm is not accepted");
  // No extension is understood here, and one that is critical must be (RFC 7515, section 4.1.11).
  for (const name of ['crit', 'b64', 'zip', 'enc']) {
    if (get(header, name) !== undefined) throw new TokenRefused(`the token's header has the parameter ${name}`);
  }
  const typ = get(header, 'typ');
  if (typ !== undefined && !(typeof typ === 'string' && TYPES.has(typ.toLowerCase()))) {
    throw new TokenRefused("the token's type is not accepted");
  }
  const kid = get(header, 'kid');
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KID)) {
    throw new TokenRefused("the token's header is not valid");
  }
  const claims = decoded(payload);
  if (claims === null) throw new TokenRefused("the token's claims are not an object");
  return { alg, kid, claims };
}

function decoded(part: string): Obj | null {
  return strictObject(Buffer.from(part, 'base64url'));
}

/** Last characters whose spare bits are zero, by the rest of the length after whole groups of four. */
const LAST: readonly RegExp[] = [/^$|[A-Za-z0-9_-]$/, /$^/, /[AQgw]$/, /[AEIMQUYcgkosw048]$/];

/**
 * Reports whether these characters of base64url are the one encoding of their bytes (RFC 4648, section 3.5): if spare
 * bits could be anything, a token would have several texts, and caching or revoking it by one text would miss the
 * others.
 */
export function isCanonical(part: string): boolean {
  return LAST[part.length % 4]?.test(part) ?? false;
}
