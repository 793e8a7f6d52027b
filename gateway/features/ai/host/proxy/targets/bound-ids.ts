/**
 * Ids of files and batches as clients see them: the provider's, sealed for one consumer and one account
 * (docs/decisions.md#ai-file-ids). They are not stored: the key opens them, so all pods can.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export type FilesSurface = 'files' | 'batches';

/** The owner of ids. */
export interface IdOwner {
  /** Empty for unauthenticated clients. */
  readonly consumer: string;
  /** Account at the provider that holds the named objects. */
  readonly account: string;
}

/** The ids of one owner. */
export interface OwnedIds {
  /** Throws if the provider's id is malformed. */
  bind(surface: FilesSurface, id: string): string;
  /** Returns the provider's id; null if it belongs to another owner. */
  unbind(surface: FilesSurface, bound: string): string | null;
}

const PREFIXES: Readonly<Record<FilesSurface, string>> = { files: 'file-', batches: 'batch_' };
/** An id of a provider: without characters that a path, a pattern or a text in JSON would read as more than letters. */
const PROVIDERS_ID = /^[\w-]{1,128}$/;
/** Characters; the gateway's ids are never longer. */
const MOST_LENGTH = 256;
const CIPHER = 'aes-256-ctr';
const [KEY, TAG] = [32, 16];

export class BoundIds {
  readonly #tagKey: Uint8Array;
  readonly #cipherKey: Uint8Array;

  constructor(secret: string) {
    const keys = new Uint8Array(hkdfSync('sha256', secret, '', 'gw ids of files and batches', 2 * KEY));
    this.#tagKey = keys.subarray(0, KEY);
    this.#cipherKey = keys.subarray(KEY);
  }

  of(owner: IdOwner): OwnedIds {
    return {
      bind: (surface, id) => this.#bind(owner, surface, id),
      unbind: (surface, bound) => this.#unbind(owner, surface, bound),
    };
  }

  /**
   * Returns the same text each time: the tag, which also begins the cipher, covers everything that the id is bound to.
   */
  #bind({ consumer, account }: IdOwner, surface: FilesSurface, id: string): string {
    if (!PROVIDERS_ID.test(id)) throw new Error('an id of the provider is not valid');
    const tag = createHmac('sha256', this.#tagKey)
      .update(JSON.stringify([surface, account, consumer, id]))
      .digest()
      .subarray(0, TAG);
    const sealed = createCipheriv(CIPHER, this.#cipherKey, tag).update(id, 'latin1');
    return PREFIXES[surface] + Buffer.concat([tag, sealed]).toString('base64url');
  }

  #unbind(owner: IdOwner, surface: FilesSurface, bound: string): string | null {
    const prefix = PREFIXES[surface];
    if (!bound.startsWith(prefix) || bound.length > MOST_LENGTH) return null;
    const bytes = Buffer.from(bound.slice(prefix.length), 'base64url');
    if (bytes.length <= TAG) return null;
    const id = createDecipheriv(CIPHER, this.#cipherKey, bytes.subarray(0, TAG))
      .update(bytes.subarray(TAG))
      .toString('latin1');
    if (!PROVIDERS_ID.test(id)) return null;
    const [wanted, given] = [Buffer.from(this.#bind(owner, surface, id)), Buffer.from(bound)];
    return wanted.length === given.length && timingSafeEqual(wanted, given) ? id : null;
  }
}
