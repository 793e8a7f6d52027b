/** Shared secrets of one config: says of a message and its code only whose they are. */
import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';

export interface HmacKeyEntry {
  readonly name: string;
  readonly secret: string;
}

export const NO_KEY = -1;

export class HmacKeyTable {
  readonly #keys: readonly KeyObject[];
  readonly #byName = new Map<string, number>();
  /** For names that nobody has, so that they take as long. */
  readonly #standIn = createSecretKey(randomBytes(32));

  /** Names must be unique. */
  constructor(entries: readonly HmacKeyEntry[]) {
    this.#keys = entries.map(({ secret }) => createSecretKey(Buffer.from(secret, 'utf8')));
    for (const [index, { name }] of entries.entries()) this.#byName.set(name, index);
  }

  /** Index of the key of this name where `code` is the message's HMAC-SHA256 by it, else NO_KEY. */
  verify(name: string, message: Uint8Array, code: Uint8Array): number {
    const index = this.#byName.get(name) ?? NO_KEY;
    const wanted = createHmac('sha256', this.#keys[index] ?? this.#standIn)
      .update(message)
      .digest();
    return code.length === wanted.length && timingSafeEqual(code, wanted) ? index : NO_KEY;
  }
}
