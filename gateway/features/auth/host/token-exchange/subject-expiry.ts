/** For how long a caller's token can hold. */

import { get } from '../../../kit.ts';
import { strictObject } from '../tokens/strict-json.ts';

const SIGNED = /^[\w-]+\.([\w-]+)\.[\w-]*$/;

/**
 * Returns milliseconds until the `exp` of a JSON Web Token, infinite for other tokens. It may be unverified: it can
 * only shorten the lifetime that the authorization server gave the issued token.
 */
export function remainingMs(token: string, now: number): number {
  const [, payload] = SIGNED.exec(token) ?? [];
  if (payload === undefined) return Number.POSITIVE_INFINITY;
  const exp = get(strictObject(Buffer.from(payload, 'base64url')), 'exp');
  return typeof exp === 'number' ? exp * 1000 - now : Number.POSITIVE_INFINITY;
}
