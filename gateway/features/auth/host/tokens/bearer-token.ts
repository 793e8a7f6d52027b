/** The syntax of a bearer token, whatever its content. */
import { MAX_TOKEN } from './jws.ts';
import { TokenRefused } from './token-refused.ts';

/** RFC 6750, section 2.1. */
const B64TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/** Throws TokenRefused if the token is too long, or malformed. */
export function checkBearerToken(token: string): void {
  if (token.length > MAX_TOKEN) throw new TokenRefused('the token is too long');
  if (!B64TOKEN.test(token)) throw new TokenRefused('the token holds characters that tokens do not have');
}
