import { Readable } from 'node:stream';
import type { BodyCopy, BodyStream } from '../exchange.ts';
import { BodyTooLarge } from '../transport/body.ts';

/** A request's body that is there already, under the limits of one that arrives. */
export class InMemoryBody extends Readable implements BodyStream {
  readonly #bytes: Uint8Array;
  readonly waitsForClient = false;
  received = 0;
  limit = Number.POSITIVE_INFINITY;
  readonly #copies: BodyCopy[] = [];

  constructor(bytes: Uint8Array) {
    super();
    this.#bytes = bytes;
    // The reader has its own listener, but may not have attached it yet.
    this.on('error', () => {});
  }

  get isRead(): boolean {
    return this.readableEnded;
  }

  /** Bodies of the gateway's requests are read as streams. */
  takeWhole(): null {
    return null;
  }

  limitTo(bytes: number): void {
    this.limit = Math.min(this.limit, bytes);
  }

  copyTo(copy: BodyCopy): void {
    this.#copies.push(copy);
  }

  override _read(): void {
    this.received = this.#bytes.length;
    if (this.received > this.limit) {
      this.destroy(new BodyTooLarge(this.received, this.limit));
      return;
    }
    for (const copy of this.#copies) {
      copy.chunk(this.#bytes);
      copy.whole();
    }
    this.push(this.#bytes);
    this.push(null);
  }
}
