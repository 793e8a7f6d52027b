/** Checks of registered claims (RFC 7519, section 4.1). */

import { get, type Obj } from '../../../kit.ts';
import { TokenRefused } from './token-refused.ts';

export interface ClaimRules {
  /** Expected `iss`; undefined: any. */
  readonly issuer: string | undefined;
  /** One of `aud`; undefined: any. */
  readonly audience: string | undefined;
  /** Milliseconds of tolerance for times. */
  readonly skewMs: number;
}

/** Unix milliseconds between which a token holds, without tolerance. */
export interface Validity {
  readonly from: number;
  readonly until: number;
}

/** Throws TokenRefused if issuer, audience or the form of a claim is wrong. The times are to be checked at each use. */
export function checkClaims(claims: Obj, rules: ClaimRules): Validity {
  if (rules.issuer !== undefined && get(claims, 'iss') !== rules.issuer) {
    throw new TokenRefused("the token's issuer is not accepted");
  }
  if (rules.audience !== undefined && !audiences(claims).includes(rules.audience)) {
    throw new TokenRefused('the token is not for this audience');
  }
  const sub = get(claims, 'sub');
  if (sub !== undefined && typeof sub !== 'string') throw new TokenRefused("the token's subject is not a string");
  const exp = time(claims, 'exp');
  if (exp === undefined) throw new TokenRefused('the token has no expiry');
  const nbf = time(claims, 'nbf') ?? 0;
  const iat = time(claims, 'iat') ?? 0;
  return { from: Math.max(nbf, iat) * 1000, until: exp * 1000 };
}

/** Throws TokenRefused outside of the token's time; `now` in Unix milliseconds. */
export function checkTime({ from, until }: Validity, skewMs: number, now: number): void {
  if (now >= until + skewMs) throw new TokenRefused('the token has expired');
  if (now < from - skewMs) throw new TokenRefused('the token is not valid yet');
}

function audiences(claims: Obj): readonly unknown[] {
  const aud = get(claims, 'aud');
  return Array.isArray(aud) ? aud : [aud];
}

function time(claims: Obj, name: string): number | undefined {
  const value = get(claims, name);
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TokenRefused(`the token's ${name} is not a time`);
  return value;
}
