/** Exchanges tokens of callers for tokens of an upstream (RFC 8693), by the rules of one config. */

import {
  Checks,
  CircuitBreaker,
  type Exchange,
  FairQueue,
  get,
  type HeaderList,
  type HttpAnswer,
  HttpCallError,
  type HttpCaller,
  messageOf,
  Outage,
  type OutageLog,
  type OwnerPath,
  ownerOf,
  SharedMap,
} from '../../../kit.ts';
import { checkBearerToken } from '../tokens/bearer-token.ts';
import { basicCredentials } from '../tokens/client-credentials.ts';
import { nameOf } from '../tokens/issuer-client.ts';
import { strictObject } from '../tokens/strict-json.ts';
import { TokenRefused } from '../tokens/token-refused.ts';
import { digestOf } from '../tokens/verified-tokens.ts';
import { ExchangeFailed } from './exchange-failed.ts';
import type { ExchangeRules } from './exchange-rules.ts';
import { type IssuedToken, issuedToken } from './token-answer.ts';

interface KeptToken {
  readonly token: string;
  /** Time by `performance.now`. */
  readonly until: number;
}

/** Bytes of an answer. */
const MAX_ANSWER = 64 << 10;
/** Exchanges under way. Past it the client that has most of them loses its oldest. */
const EXCHANGING = { atOnce: 500, mostWaiting: 0, mostMs: 0 };
/** Characters of the tokens kept at once. */
const MOST_CHARACTERS = 8 << 20;
/** Cost of an entry besides its token, in the same measure. */
const ENTRY = 256;
/** An issued token is not used in its last seconds: the request has a way to go, and clocks differ. */
const EXPIRY_MARGIN_MS = 30_000;

export class TokenExchanger {
  readonly #rules: ExchangeRules;
  readonly #client: HttpCaller;
  readonly #server: string;
  readonly #outage: Outage;
  readonly #breaker = new CircuitBreaker();
  readonly #headers: HeaderList;
  /** Tokens by digest of the subject's token: the other parameters are the same in each exchange. */
  readonly #kept = new SharedMap<KeptToken>({ most: MOST_CHARACTERS });
  /** Requests with the same token share one exchange. */
  readonly #checks = new Checks<string>(new FairQueue(EXCHANGING), () => true);

  constructor(rules: ExchangeRules, client: HttpCaller, log: OutageLog) {
    this.#rules = rules;
    this.#client = client;
    this.#server = nameOf(rules.url);
    this.#outage = new Outage(`token exchange at ${this.#server}`, log);
    this.#headers = headersOf(rules);
  }

  /** Returns a token for the upstream; at once if one is kept. Throws, or rejects with, ExchangeFailed and Crowded. */
  exchange(subject: string, exchange: Exchange): string | Promise<string> {
    checkSubject(subject);
    const digest = digestOf(subject);
    const kept = this.#kept.use(digest);
    if (kept && performance.now() < kept.until) return kept.token;
    if (kept) this.#kept.delete(digest);
    const run = (signal: AbortSignal) => this.#exchange(subject, digest, exchange, signal);
    return this.#checks.run({ key: digest, name: digest, owner: ownerOf(exchange), run });
  }

  async #exchange(subject: string, digest: string, exchange: Exchange, signal: AbortSignal): Promise<string> {
    if (!this.#breaker.admits(exchange.clientIp)) {
      const retryAfter = this.#breaker.retryAfter(exchange.clientIp);
      throw new ExchangeFailed('unavailable', `${this.#server} has failed repeatedly`, { retryAfter });
    }
    const askedAt = performance.now();
    try {
      const issued = issuedToken(await this.#ask(subject, exchange, signal), this.#rules.usableTypes, this.#server);
      this.#outage.succeeded();
      this.#breaker.succeeded();
      this.#keep(subject, digest, issued, { askedAt, owner: ownerOf(exchange) });
      return issued.token;
    } catch (error) {
      // The call was ended for another client, which says nothing about the server.
      if (signal.aborted) this.#breaker.abandoned(exchange.clientIp);
      else this.#failed(exchange, error);
      throw error;
    }
  }

  async #ask(subject: string, exchange: Exchange, signal: AbortSignal): Promise<HttpAnswer> {
    const { url, timeoutMs, parameters, clientAuthentication, clientId, clientSecret } = this.#rules;
    const body = new URLSearchParams({ ...parameters, subject_token: subject });
    if (clientAuthentication !== 'client_secret_basic') body.set('client_id', clientId);
    if (clientAuthentication === 'client_secret_post') body.set('client_secret', clientSecret);
    try {
      return await this.#client.call({
        method: 'POST',
        url,
        headers: this.#headers,
        body: body.toString(),
        timeoutMs,
        maxBytes: MAX_ANSWER,
        exchange,
        shared: true,
        signal,
      });
    } catch (error) {
      throw error instanceof HttpCallError ? withoutAnswer(error) : error;
    }
  }

  #keep(
    subject: string,
    digest: string,
    { token, lifetimeMs }: IssuedToken,
    { askedAt, owner }: { readonly askedAt: number; readonly owner: OwnerPath },
  ): void {
    const lasts = Math.min(lifetimeMs - EXPIRY_MARGIN_MS, this.#rules.cacheMs, remainingMs(subject, Date.now()));
    if (lasts > 0) this.#kept.set(digest, { token, until: askedAt + lasts }, owner, token.length + ENTRY);
  }

  /** A refusal of one token says nothing about the others. */
  #failed({ clientIp }: Exchange, error: unknown): void {
    if (error instanceof ExchangeFailed && !error.ill) this.#breaker.abandoned(clientIp);
    else this.#breaker.failed(clientIp);
    const { failure } = error instanceof ExchangeFailed ? error : { failure: 'unavailable' };
    if (failure !== 'refused' && failure !== 'denied') this.#outage.failed(messageOf(error));
  }
}

function headersOf({ clientAuthentication, clientId, clientSecret }: ExchangeRules): HeaderList {
  const headers = ['accept', 'application/json', 'content-type', 'application/x-www-form-urlencoded'];
  if (clientAuthentication !== 'client_secret_basic') return headers;
  return [...headers, 'authorization', basicCredentials(clientId, clientSecret)];
}

function checkSubject(subject: string): void {
  try {
    checkBearerToken(subject);
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    throw new ExchangeFailed('refused', error.message, { reason: error.message });
  }
}

function withoutAnswer({ failure, message }: HttpCallError): ExchangeFailed {
  if (failure === 'timeout') return new ExchangeFailed('timeout', message, { ill: true });
  if (failure === 'too-large') return new ExchangeFailed('unusable', message);
  // If the gateway lacks room for an answer, the server is well.
  return new ExchangeFailed('unavailable', message, { ill: failure !== 'no-room' });
}

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
