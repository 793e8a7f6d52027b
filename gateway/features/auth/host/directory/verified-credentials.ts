/**
 * Verdicts of a directory on credentials, kept for a while in the store of `--state`. The store holds no password, and
 * nothing that reveals one: keys are HMACs and values are sealed, by a secret that is only here.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { type CacheStore, type OwnerPath, StateUnavailable } from '../../../kit.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A user of the directory. */
export interface DirectoryUser {
  readonly dn: string;
  readonly consumer: string;
  readonly groups: readonly string[];
}

/** Null: unknown user, or wrong password; clients are not told which. */
export type Verdict = { readonly user: DirectoryUser | null };

export class VerifiedCredentials {
  readonly #cache: CacheStore;
  readonly #ttlSeconds: number;
  readonly #digestKey: Uint8Array;
  readonly #sealKey: Uint8Array;

  /** `secret`: the secret of the gateways that share verdicts; `scope`: the settings that the verdicts come from. */
  constructor(cache: CacheStore, ttlSeconds: number, secret: string | Uint8Array, scope: string) {
    this.#cache = cache;
    this.#ttlSeconds = ttlSeconds;
    const derive = (use: string) => new Uint8Array(hkdfSync('sha256', secret, scope, `gw directory ${use}`, 32));
    this.#digestKey = derive('digest');
    this.#sealKey = derive('seal');
  }

  keyOf(username: string, password: string): string {
    const name = Buffer.from(username, 'utf8');
    const digest = createHmac('sha256', this.#digestKey).update(`${name.length}:`).update(name).update(password);
    return `directory:${digest.digest('base64url')}`;
  }

  /** Returns null if nothing is stored, or the store is unavailable. */
  get(key: string): Verdict | null | Promise<Verdict | null> {
    if (this.#ttlSeconds <= 0) return null;
    const sealed = this.#cache.get(key);
    if (sealed instanceof Promise) return sealed.then((each) => this.#open(key, each)).catch(nullWhereAway);
    return this.#open(key, sealed);
  }

  async set(key: string, verdict: Verdict, owner: OwnerPath): Promise<void> {
    if (this.#ttlSeconds <= 0) return;
    try {
      await this.#cache.set(key, this.#seal(key, verdict), this.#ttlSeconds, ['directory', ...owner]);
    } catch (error) {
      nullWhereAway(error);
    }
  }

  #seal(key: string, verdict: Verdict): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#sealKey, nonce).setAAD(Buffer.from(key));
    const sealed = Buffer.concat([cipher.update(JSON.stringify(verdict), 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Returns null also for values that were not sealed here. */
  #open(key: string, value: Uint8Array | null): Verdict | null {
    if (value === null || value.length < NONCE_BYTES + TAG_BYTES) return null;
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    try {
      const decipher = createDecipheriv(CIPHER, this.#sealKey, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(key)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      // Sealed by a gateway that has this secret: by this code.
      const verdict: Verdict = JSON.parse(text.toString('utf8'));
      return verdict;
    } catch {
      return null;
    }
  }
}

function nullWhereAway(error: unknown): null {
  if (error instanceof StateUnavailable) return null;
  throw error;
}
