/** Tokens that held when they were last looked at, by digest: bounded, with shares of the clients that sent them first. */
import { hash, randomBytes } from 'node:crypto';
import { type OwnerPath, SharedMap } from '../../../kit.ts';
import type { Validity } from './claims.ts';
import type { TokenClaims } from './token-claims.ts';

/** Makes digests of this process unlike those of any other, so that places in the table cannot be foreseen. */
const pepper = randomBytes(32).toString('base64');

/** Returns a digest of a token that must not itself stay in memory. */
export function digestOf(token: string): string {
  return hash('sha256', pepper + token, 'base64');
}

export interface VerifiedToken {
  readonly claims: TokenClaims;
  readonly validity: Validity;
}

/** Most characters of the tokens that one verifier remembers; their claims take about four times as many bytes. */
const MOST_CHARACTERS = 8 << 20;
/** Cost of an entry besides its claims, in the same measure. */
const ENTRY = 128;

export class VerifiedTokens {
  readonly #entries = new SharedMap<VerifiedToken>({ most: MOST_CHARACTERS });

  get(digest: string): VerifiedToken | undefined {
    return this.#entries.use(digest);
  }

  /** `length`: characters of the token or of its description. */
  set(digest: string, token: VerifiedToken, length: number, owner: OwnerPath): void {
    this.#entries.set(digest, token, owner, length + ENTRY);
  }

  delete(digest: string): void {
    this.#entries.delete(digest);
  }

  clear(): void {
    this.#entries.clear();
  }
}
