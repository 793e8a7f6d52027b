/** Reads a token endpoint's answer to an exchange (RFC 8693, section 2.2), trusting no more of it than is needed. */

import { get, type HttpAnswer, headerOf, type Obj, retryAfterMs } from '../../../kit.ts';
import { checkBearerToken } from '../tokens/bearer-token.ts';
import { strictObject } from '../tokens/strict-json.ts';
import { TokenRefused } from '../tokens/token-refused.ts';
import { ExchangeFailed } from './exchange-failed.ts';
import { ACCESS_TOKEN } from './exchange-rules.ts';

export interface IssuedToken {
  readonly token: string;
  /** Milliseconds from the answer on; 0 if the server does not say. */
  readonly lifetimeMs: number;
}

/** The subject's token is invalid or unacceptable: `invalid_request` by RFC 8693, section 2.2.2, others by custom. */
const REFUSALS = new Set(['invalid_request', 'invalid_grant', 'invalid_token']);
/** The server issues no such token on behalf of this subject. */
const DENIALS = new Set(['invalid_target', 'invalid_scope', 'access_denied']);
/** About the gateway's own client. */
const ABOUT_US = new Set(['invalid_client', 'unauthorized_client', 'unsupported_grant_type']);
const STATUSES_ABOUT_US = new Set([401, 403]);
/** Statuses by which servers refuse a token's content or size. */
const ABOUT_THE_TOKEN = new Set([400, 413, 414, 422, 431]);
const NOT_ACCEPTED = 'the authorization server does not accept the token for an exchange';

/** Throws ExchangeFailed. `server`: its name, for the log. */
export function issuedToken(answer: HttpAnswer, usableTypes: readonly string[], server: string): IssuedToken {
  const { status } = answer;
  const said = strictObject(answer.body);
  if (status !== 200) throw refusal(answer, get(said, 'error'), server);
  if (said === null) throw unusable(`${server} did not answer with a JSON object`);
  const { access_token: token } = said;
  const type = get(said, 'issued_token_type');
  if (typeof type !== 'string' || !usableTypes.includes(type)) {
    throw unusable(`${server} issued a token of another type than ${usableTypes.join(' or ')}`);
  }
  if (!isBearer(said, type)) throw unusable(`${server} issued a token that is not a bearer token`);
  if (typeof token !== 'string' || token === '') throw unusable(`${server} answered without "access_token"`);
  checkIssued(token, server);
  return { token, lifetimeMs: lifetimeOf(said) };
}

/** `N_A` says that the token is not an access token (section 2.2.1), of which others can be sent as bearer tokens. */
function isBearer(said: Obj, issuedType: string): boolean {
  const type = get(said, 'token_type');
  if (typeof type !== 'string') return false;
  return type.toLowerCase() === 'bearer' || (type === 'N_A' && issuedType !== ACCESS_TOKEN);
}

/** Checks the token, which becomes a header: it must not be able to end one. */
function checkIssued(token: string, server: string): void {
  try {
    checkBearerToken(token);
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    throw unusable(`${server} issued a token that cannot be sent: ${error.message}`);
  }
}

function lifetimeOf(said: Obj): number {
  const seconds = get(said, 'expires_in');
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : 0;
}

function refusal({ status, headers }: HttpAnswer, error: unknown, server: string): ExchangeFailed {
  const code = typeof error === 'string' ? error : '';
  const isClientError = status >= 400 && status < 500;
  if (isClientError && DENIALS.has(code)) return new ExchangeFailed('denied', `${server}: ${code}`, { reason: code });
  if (isClientError && REFUSALS.has(code)) {
    return new ExchangeFailed('refused', `${server}: ${code}`, { reason: NOT_ACCEPTED });
  }
  const retryAfter = Math.max(1, Math.ceil((retryAfterMs(headerOf(headers, 'retry-after')) ?? 0) / 1000));
  const says = `${server} answered with status ${status}`;
  if (isClientError && ABOUT_US.has(code)) {
    return new ExchangeFailed('unavailable', `${says}, ${code}`, { ill: true });
  }
  if (status >= 500 || status === 429 || STATUSES_ABOUT_US.has(status)) {
    return new ExchangeFailed('unavailable', says, { retryAfter, ill: true });
  }
  if (ABOUT_THE_TOKEN.has(status)) return new ExchangeFailed('refused', says, { reason: NOT_ACCEPTED });
  return unusable(says);
}

function unusable(message: string): ExchangeFailed {
  return new ExchangeFailed('unusable', message);
}
