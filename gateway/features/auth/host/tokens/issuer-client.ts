/** Asks an issuer for JSON objects, of bounded size, in bounded time. */

import { get, type HttpCall, HttpCallError, type HttpCaller, messageOf, type Obj } from '../../../kit.ts';
import { strictObject } from './strict-json.ts';
import { IssuerUnavailable } from './token-refused.ts';

/** Bytes of a discovery document, and of a key set. */
const MAX_DISCOVERY = 256 << 10;
const MAX_KEY_SET = 1 << 20;

/** The issuer answered this one question with a status that does not mean an outage. */
export class QuestionRefused extends IssuerUnavailable {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** 4xx that concern the gateway, for any question: its credentials, and its rate of requests. */
const ABOUT_US = new Set([401, 403, 429]);

/** The object that an issuer answers with. Rejects with IssuerUnavailable, of which QuestionRefused is one. */
export async function askIssuer(client: HttpCaller, call: HttpCall): Promise<Obj> {
  const { status, body } = await answerOf(client, call);
  const name = nameOf(call.url);
  const said = `${name} answered with status ${status}`;
  if (status >= 400 && status < 500 && !isAboutUs(status, body)) throw new QuestionRefused(said, status);
  if (status !== 200) throw new IssuerUnavailable(said);
  const object = strictObject(body);
  if (object === null) throw new IssuerUnavailable(`${name} did not answer with a JSON object`);
  return object;
}

/** Servers may say with 400, too, that it is our credentials that they do not take (RFC 6749, section 5.2). */
function isAboutUs(status: number, body: Uint8Array): boolean {
  const error = status === 400 ? get(strictObject(body), 'error') : undefined;
  return ABOUT_US.has(status) || error === 'invalid_client' || error === 'unauthorized_client';
}

async function answerOf(client: HttpCaller, call: HttpCall) {
  try {
    return await client.call({ ...call, headers: ['accept', 'application/json', ...(call.headers ?? [])] });
  } catch (error) {
    if (error instanceof HttpCallError) throw new IssuerUnavailable(messageOf(error), { cause: error });
    throw error;
  }
}

/** Returns a server's name for logs: without the query, which may be confidential. */
export function nameOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

export function fetchKeySet(client: HttpCaller, url: string, timeoutMs: number): Promise<Obj> {
  return askIssuer(client, { method: 'GET', url, timeoutMs, maxBytes: MAX_KEY_SET });
}

export interface Issuer {
  /** `issuer_url`. */
  readonly url: string;
  /** Tokens name another issuer, and the document may, too. */
  readonly overridden: boolean;
}

/** Returns the URL of the issuer's keys (OpenID Connect Discovery 1.0, section 4). Rejects with IssuerUnavailable. */
export async function discoverKeySet(client: HttpCaller, issuer: Issuer, timeoutMs: number): Promise<string> {
  const url = `${issuer.url.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const document = await askIssuer(client, { method: 'GET', url, timeoutMs, maxBytes: MAX_DISCOVERY });
  const named = get(document, 'issuer');
  // Section 4.3: one issuer could else speak for another.
  if (named !== issuer.url && !issuer.overridden) {
    const says = typeof named === 'string' ? `names the issuer "${named.slice(0, 200)}"` : 'names no issuer';
    throw new IssuerUnavailable(
      `${url} ${says}, and issuer_url is "${issuer.url}": make them equal, or set issuer_override`,
    );
  }
  const keys = get(document, 'jwks_uri');
  if (typeof keys !== 'string' || !URL.canParse(keys)) throw new IssuerUnavailable(`${url} names no jwks_uri`);
  return keys;
}
