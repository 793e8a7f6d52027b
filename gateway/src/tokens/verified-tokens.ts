/** Tokens that held when they were last looked at, by digest: bounded, least recently used first out. */
import { hash, randomBytes } from 'node:crypto';
import type { Validity } from './claims.ts';
import type { TokenClaims } from './token-claims.ts';

/** Makes digests of this process unlike those of any other, so that places in the table cannot be foreseen. */
const pepper = randomBytes(32).toString('base64');

/** What stands for a token that must not itself stay in memory. */
export function digestOf(token: string): string {
  return hash('sha256', pepper + token, 'base64');
}

export interface VerifiedToken {
  readonly claims: TokenClaims;
  readonly validity: Validity;
}

/** Characters of the tokens remembered at once by one verifier; their claims take about four times as many bytes. */
const MOST_CHARACTERS = 8 << 20;
/** What an entry costs beside its claims, in the same measure. */
const ENTRY = 128;

export class VerifiedTokens {
  readonly #entries = new Map<string, { readonly token: VerifiedToken; readonly characters: number }>();
  #characters = 0;

  get(digest: string): VerifiedToken | undefined {
    const entry = this.#entries.get(digest);
    if (entry === undefined) return undefined;
    this.#entries.delete(digest);
    this.#entries.set(digest, entry);
    return entry.token;
  }

  /** `length`: characters of the token or of what was said of it. */
  set(digest: string, token: VerifiedToken, length: number): void {
    this.delete(digest);
    const characters = length + ENTRY;
    this.#entries.set(digest, { token, characters });
    this.#characters += characters;
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= MOST_CHARACTERS) break;
      this.delete(oldest);
    }
  }

  delete(digest: string): void {
    const entry = this.#entries.get(digest);
    if (entry === undefined) return;
    this.#entries.delete(digest);
    this.#characters -= entry.characters;
  }

  clear(): void {
    this.#entries.clear();
    this.#characters = 0;
  }
}
