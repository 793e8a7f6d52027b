/** Verifies JSON Web Tokens: RFC 7519 with the practices of RFC 8725, signatures by jose. */
import { compactVerify, errors } from 'jose';
import { type Exchange, NOBODY, networkOf, type OwnerPath } from '../../../kit.ts';
import { type ClaimRules, checkClaims, checkTime } from './claims.ts';
import { type Algorithm, type ReadToken, readToken } from './jws.ts';
import type { KeySource } from './key-source.ts';
import type { KeyTable } from './key-table.ts';
import { TokenClaims } from './token-claims.ts';
import { TokenRefused } from './token-refused.ts';
import type { TokenVerifier } from './token-verifier.ts';
import { digestOf, VerifiedTokens } from './verified-tokens.ts';

export interface JwtRules extends ClaimRules {
  readonly algorithms: ReadonlySet<Algorithm>;
  /**
   * `unchecked` skips the signature (docs/decisions.md#production-builds, docs/decisions.md#jwt-without-key); null:
   * without a key, every signature is refused.
   */
  readonly keys: KeySource | 'unchecked' | null;
}

export class JwtVerifier implements TokenVerifier {
  readonly #rules: JwtRules;
  readonly #verified = new VerifiedTokens();
  /** The keys that the remembered tokens were verified with. */
  #verifiedWith: KeyTable | null = null;

  constructor(rules: JwtRules) {
    this.#rules = rules;
  }

  /** `exchange`: the request that the token came with; null without one. */
  verify(token: string, exchange: Exchange | null): TokenClaims | Promise<TokenClaims> {
    const { keys, skewMs } = this.#rules;
    const digest = digestOf(token);
    if (typeof keys === 'object' && keys?.current === this.#verifiedWith) {
      const known = this.#verified.get(digest);
      if (known) {
        checkTime(known.validity, skewMs, Date.now());
        return known.claims;
      }
    }
    return this.#verifyAnew(token, digest, exchange === null ? NOBODY : networkOf(exchange));
  }

  async #verifyAnew(token: string, digest: string, owner: OwnerPath): Promise<TokenClaims> {
    const { keys, skewMs, algorithms } = this.#rules;
    const read = readToken(token, algorithms);
    // Before the signature: a token that is refused anyway costs the issuer nothing.
    const validity = checkClaims(read.claims, this.#rules);
    checkTime(validity, skewMs, Date.now());
    const claims = new TokenClaims(read.claims);
    if (keys === 'unchecked') return claims;
    if (keys === null) throw new TokenRefused("the token's signature cannot be verified: no key is configured");
    const table = await this.#signedWith(token, read, keys, owner);
    if (this.#isCurrent(table)) this.#verified.set(digest, { claims, validity }, token.length, owner);
    return claims;
  }

  /**
   * The keys that hold the token's. If its signature fails and no name chose the key, the keys may have been replaced:
   * they are looked at once more.
   */
  async #signedWith(token: string, read: ReadToken, keys: KeySource, owner: OwnerPath): Promise<KeyTable> {
    const table = await keys.keysFor(read.kid, owner);
    try {
      await checkSignature(token, read, table);
      return table;
    } catch (error) {
      if (!(error instanceof TokenRefused) || table.chooses(read.kid)) throw error;
      const newer = await keys.newerThan(table, owner);
      if (newer === null) throw error;
      await checkSignature(token, read, newer);
      return newer;
    }
  }

  /** Drops tokens that were verified with earlier keys. */
  #isCurrent(table: KeyTable): boolean {
    const current = typeof this.#rules.keys === 'object' ? this.#rules.keys?.current : null;
    if (table !== current) return false;
    if (table !== this.#verifiedWith) {
      this.#verified.clear();
      this.#verifiedWith = table;
    }
    return true;
  }
}

/** Rejects with TokenRefused. */
async function checkSignature(token: string, { alg, kid }: ReadToken, keys: KeyTable): Promise<void> {
  const candidates = keys.candidates(alg, kid);
  if (candidates.length === 0) throw new TokenRefused('the token is signed with a key that is not known');
  for (const candidate of candidates) {
    const key = await candidate;
    if (key === null) continue;
    try {
      await compactVerify(token, key, { algorithms: [alg] });
      return;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
    }
  }
  throw new TokenRefused("the token's signature is not valid");
}
