/**
 * Ids of files and batches as clients see them: the provider's, sealed for one consumer and one account
 * (docs/decisions.md#ai-file-ids). They are not stored: whoever has the secret opens them, so all
 * pods do. With another secret, clients' ids are unknown.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export type FilesSurface = 'files' | 'batches';

/** The owner of ids. */
export interface IdOwner {
  /** Empty for unauthenticated clients. */
  readonly consumer: string;
  /** Account at the provider that holds the files and batches. */
  readonly account: string;
}

/** The ids of one owner. */
export interface OwnedIds {
  /** Throws if the provider's id is malformed. */
  bind(surface: FilesSurface, id: string): string;
  /** Returns the provider's id; null if it is malformed, of the other surface, or not of this owner. */
  unbind(surface: FilesSurface, bound: string): string | null;
}

const PREFIXES: Readonly<Record<FilesSurface, string>> = { files: 'file-', batches: 'batch_' };
/** An id of a provider: without characters that a path, a pattern or a text in JSON would read as more than letters. */
const PROVIDERS_ID = /^[\w-]{1,128}$/;
/** Characters; the gateway's ids are never longer. */
const MOST_LENGTH = 256;
const CIPHER = 'aes-256-ctr';
const [KEY_BYTES, TAG_BYTES] = [32, 16];

export class BoundIds {
  readonly #tagKey: Uint8Array;
  readonly #cipherKey: Uint8Array;

  constructor(secret: string) {
    const keys = new Uint8Array(hkdfSync('sha256', secret, '', 'gw ids of files and batches', 2 * KEY_BYTES));
    this.#tagKey = keys.subarray(0, KEY_BYTES);
    this.#cipherKey = keys.subarray(KEY_BYTES);
  }

  of(owner: IdOwner): OwnedIds {
    return {
      bind: (surface, id) => this.#bind(owner, surface, id),
      unbind: (surface, bound) => this.#unbind(owner, surface, bound),
    };
  }

  /**
   * Returns the same text each time: the tag covers everything that the id is bound to, and is the initialisation
   * vector of the cipher, too (as in RFC 5297).
   */
  #bind({ consumer, account }: IdOwner, surface: FilesSurface, id: string): string {
    if (!PROVIDERS_ID.test(id)) throw new Error('an id of the provider is not valid');
    const tag = createHmac('sha256', this.#tagKey)
      .update(JSON.stringify([surface, account, consumer, id]))
      .digest()
      .subarray(0, TAG_BYTES);
    const sealed = createCipheriv(CIPHER, this.#cipherKey, tag).update(id, 'latin1');
    return PREFIXES[surface] + Buffer.concat([tag, sealed]).toString('base64url');
  }

  #unbind(owner: IdOwner, surface: FilesSurface, bound: string): string | null {
    const prefix = PREFIXES[surface];
    if (!bound.startsWith(prefix) || bound.length > MOST_LENGTH) return null;
    const bytes = Buffer.from(bound.slice(prefix.length), 'base64url');
    if (bytes.length <= TAG_BYTES) return null;
    const id = createDecipheriv(CIPHER, this.#cipherKey, bytes.subarray(0, TAG_BYTES))
      .update(bytes.subarray(TAG_BYTES))
      .toString('latin1');
    if (!PROVIDERS_ID.test(id)) return null;
    // A text in Base64 has several spellings: only the one that was given out is accepted.
    const [wanted, given] = [Buffer.from(this.#bind(owner, surface, id)), Buffer.from(bound)];
    return wanted.length === given.length && timingSafeEqual(wanted, given) ? id : null;
  }
}
