/** For how long a caller's token can hold. */
import { get } from '../../spec/json.ts';
import { strictObject } from '../tokens/strict-json.ts';

const SIGNED = /^[\w-]+\.([\w-]+)\.[\w-]*$/;

/**
 * Milliseconds until the `exp` of a JSON Web Token, infinite for other tokens. Nobody has to have verified it: it can
 * only shorten what the authorization server has said of the token that it issued.
 */
export function remainingMs(token: string, now: number): number {
  const [, payload] = SIGNED.exec(token) ?? [];
  if (payload === undefined) return Number.POSITIVE_INFINITY;
  const exp = get(strictObject(Buffer.from(payload, 'base64url')), 'exp');
  return typeof exp === 'number' ? exp * 1000 - now : Number.POSITIVE_INFINITY;
}
