/** SHA-256, or HMAC-SHA-256 with a key, in the form that the signer takes. */
import { createHash, createHmac, type Hash, type Hmac, hash } from 'node:crypto';

type Source = string | ArrayBuffer | ArrayBufferView;

export class Sha256 {
  readonly #key: Uint8Array | string | undefined;
  #hash: Hash | Hmac;

  constructor(key?: Source) {
    this.#key = key === undefined || typeof key === 'string' ? key : bytesOf(key);
    this.#hash = this.#begin();
  }

  #begin(): Hash | Hmac {
    return this.#key === undefined ? createHash('sha256') : createHmac('sha256', this.#key);
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#begin();
  }
}

/** Hex. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

function bytesOf(source: Exclude<Source, string>): Uint8Array {
  return source instanceof ArrayBuffer
    ? new Uint8Array(source)
    : new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}
