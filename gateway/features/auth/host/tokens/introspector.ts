/** Asks an authorization server about opaque tokens (RFC 7662). */

import {
  Checks,
  CircuitBreaker,
  type Exchange,
  FairQueue,
  get,
  type HttpCaller,
  messageOf,
  networkOf,
  type Obj,
  type Outage,
} from '../../../kit.ts';
import { checkBearerToken } from './bearer-token.ts';
import { checkTime, type Validity } from './claims.ts';
import { basicCredentials } from './client-credentials.ts';
import { askIssuer, QuestionRefused } from './issuer-client.ts';
import { TokenClaims } from './token-claims.ts';
import { IssuerUnavailable, TokenRefused } from './token-refused.ts';
import type { TokenVerifier } from './token-verifier.ts';
import { digestOf, VerifiedTokens } from './verified-tokens.ts';

export interface IntrospectionRules {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly timeoutMs: number;
  /** Milliseconds for which the answer that a token is active is kept, at most until its `exp`; 0: not at all. */
  readonly cacheMs: number;
}

/** Bytes of an answer. */
const MAX_ANSWER = 32 << 10;
/** Questions under way. Past it the client that has most of them loses its oldest. */
const ASKING = { atOnce: 500, mostWaiting: 0, mostMs: 0 };
/** Most milliseconds by which the server's clock may be behind. */
const CLOCK_SKEW_MS = 60_000;
/** Statuses by which servers refuse a token's content or size. */
const ABOUT_THE_TOKEN = new Set([400, 413, 414, 422, 431]);

export class Introspector implements TokenVerifier {
  readonly #rules: IntrospectionRules;
  readonly #client: HttpCaller;
  readonly #outage: Outage;
  readonly #breaker = new CircuitBreaker();
  readonly #authorization: string;
  readonly #active = new VerifiedTokens();
  /** Requests with the same token share one question. */
  readonly #checks = new Checks<TokenClaims>(new FairQueue(ASKING), () => true);

  constructor(rules: IntrospectionRules, client: HttpCaller, outage: Outage) {
    this.#rules = rules;
    this.#client = client;
    this.#outage = outage;
    this.#authorization = basicCredentials(rules.clientId, rules.clientSecret);
  }

  verify(token: string, exchange: Exchange): TokenClaims | Promise<TokenClaims> {
    checkBearerToken(token);
    const digest = digestOf(token);
    const known = this.#active.get(digest);
    if (known && Date.now() < known.validity.until) return known.claims;
    if (known) this.#active.delete(digest);
    const run = (signal: AbortSignal) => this.#ask(token, digest, exchange, signal);
    return this.#checks.run({ key: digest, name: digest, owner: networkOf(exchange), run });
  }

  async #ask(token: string, digest: string, exchange: Exchange, signal: AbortSignal): Promise<TokenClaims> {
    if (!this.#breaker.admits(exchange.clientIp))
      throw new IssuerUnavailable('the introspection endpoint has failed repeatedly');
    const answer = await this.#introspect(token, exchange, signal);
    const validity = activity(answer);
    const claims = new TokenClaims(answer);
    const { cacheMs } = this.#rules;
    const until = Math.min(validity.until, Date.now() + cacheMs);
    if (cacheMs > 0) {
      const token = { claims, validity: { ...validity, until } };
      this.#active.set(digest, token, JSON.stringify(answer).length, networkOf(exchange));
    }
    return claims;
  }

  async #introspect(token: string, exchange: Exchange, signal: AbortSignal): Promise<Obj> {
    try {
      const answer = await askIssuer(this.#client, {
        method: 'POST',
        url: this.#rules.url,
        headers: ['authorization', this.#authorization, 'content-type', 'application/x-www-form-urlencoded'],
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
        timeoutMs: this.#rules.timeoutMs,
        maxBytes: MAX_ANSWER,
        exchange,
        shared: true,
        signal,
      });
      if (typeof get(answer, 'active') !== 'boolean') {
        throw new IssuerUnavailable('the introspection endpoint answered without "active", true or false');
      }
      this.#outage.succeeded();
      this.#breaker.succeeded();
      return answer;
    } catch (error) {
      // A token that the server refuses says nothing about the others.
      if (error instanceof QuestionRefused) {
        this.#breaker.abandoned(exchange.clientIp);
        if (ABOUT_THE_TOKEN.has(error.status)) throw new TokenRefused('the token is not one that can be introspected');
        throw error;
      }
      // The call was ended for another client, which says nothing about the server.
      if (signal.aborted) {
        this.#breaker.abandoned(exchange.clientIp);
        throw error;
      }
      this.#outage.failed(messageOf(error));
      this.#breaker.failed(exchange.clientIp);
      throw error;
    }
  }
}

/** Throws TokenRefused if the token is not active, or by its expiry cannot be. */
function activity(answer: Obj): Validity {
  if (get(answer, 'active') !== true) throw new TokenRefused('the token is not active');
  const exp = get(answer, 'exp');
  const until = typeof exp === 'number' ? exp * 1000 : Number.POSITIVE_INFINITY;
  const validity = { from: 0, until };
  checkTime(validity, CLOCK_SKEW_MS, Date.now());
  return validity;
}
