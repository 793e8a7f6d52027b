/** Nonces in the process, by credential and by the second of their signature. */
import { hash } from 'node:crypto';
import { MAX_NONCES, type NonceStore, type NonceVerdict, type SignedNonce } from './nonce-store.ts';

export interface MemoryNonceOptions {
  /** Nonces kept at once. Default 500,000: some 40 MB. */
  readonly maxNonces?: number;
  /** Milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

export class MemoryNonceStore implements NonceStore {
  readonly immediate = true;
  readonly #maxNonces: number;
  readonly #now: () => number;
  /** Unix time in seconds. */
  readonly #began: number;
  readonly #credentials = new Map<string, CredentialNonces>();
  #size = 0;

  constructor({ maxNonces = MAX_NONCES, now = Date.now }: MemoryNonceOptions = {}) {
    this.#maxNonces = maxNonces;
    this.#now = now;
    this.#began = Math.floor(now() / 1000);
  }

  /** Nonces kept at present. */
  get size(): number {
    return this.#size;
  }

  enter({ credential, nonce, created, keepSeconds }: SignedNonce): NonceVerdict {
    const known = this.#credentials.get(credential);
    const nonces = known ?? new CredentialNonces(this.#began);
    if (created < nonces.began) return 'forgotten';
    if (!known) this.#credentials.set(credential, nonces);
    const before = nonces.size;
    const isNew = nonces.add(digestOf(nonce), created, keepSeconds, this.#now() / 1000);
    this.#size += nonces.size - before;
    if (this.#size > this.#maxNonces) this.#shrink();
    return isNew ? 'new' : 'used';
  }

  #shrink(): void {
    const now = this.#now() / 1000;
    let largest: CredentialNonces | undefined;
    this.#size = 0;
    for (const [credential, nonces] of this.#credentials) {
      nonces.expire(now);
      this.#size += nonces.size;
      if (nonces.size === 0 && nonces.began === this.#began) this.#credentials.delete(credential);
      if (nonces.size > (largest?.size ?? 0)) largest = nonces;
    }
    if (this.#size > this.#maxNonces && largest) this.#size -= largest.forgetOldest();
  }
}

class CredentialNonces {
  /** Signatures of before are not remembered. Unix time in seconds. */
  began: number;
  #keepSeconds = 0;
  readonly #nonces = new Set<string>();
  readonly #bySecond = new Map<number, string[]>();

  constructor(began: number) {
    this.began = began;
  }

  get size(): number {
    return this.#nonces.size;
  }

  /** Returns false if the nonce is known. */
  add(nonce: string, created: number, keepSeconds: number, now: number): boolean {
    if (this.#nonces.has(nonce)) return false;
    this.#keepSeconds = Math.max(this.#keepSeconds, keepSeconds);
    const second = this.#bySecond.get(created);
    if (second) second.push(nonce);
    else {
      this.expire(now);
      this.#bySecond.set(created, [nonce]);
    }
    this.#nonces.add(nonce);
    return true;
  }

  /** Drops nonces of expired signatures. */
  expire(now: number): void {
    for (const second of this.#bySecond.keys()) if (second < now - this.#keepSeconds) this.#drop(second);
  }

  /** Drops all nonces of the oldest second; returns their number. */
  forgetOldest(): number {
    const before = this.size;
    let oldest = Number.POSITIVE_INFINITY;
    for (const second of this.#bySecond.keys()) oldest = Math.min(oldest, second);
    this.#drop(oldest);
    this.began = oldest + 1;
    return before - this.size;
  }

  #drop(second: number): void {
    for (const nonce of this.#bySecond.get(second) ?? []) this.#nonces.delete(nonce);
    this.#bySecond.delete(second);
  }
}

/** Returns a digest, since nonces may be long. */
function digestOf(nonce: string): string {
  return hash('sha256', nonce, 'base64').slice(0, 22);
}
