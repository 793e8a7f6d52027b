/** How fast an upload comes, as far as that is up to its client. */
import type { IncomingMessage } from 'node:http';

/** The same as for bodies of the gateway (docs/decisions.md#bodies-in-memory). */
export const LEAST_RATE = { bytesPerSecond: 1_024, seconds: 10 };

export class UploadRate {
  readonly #request: IncomingMessage;
  /** Bytes of the last seconds, without those in which the server read nothing. */
  readonly #seconds: number[] = [];
  #before: number;

  constructor(request: IncomingMessage) {
    this.#request = request;
    this.#before = request.socket.bytesRead;
  }

  /** Bytes of the seconds that count. */
  get lately(): number {
    const { bytesRead } = this.#request.socket;
    return this.#seconds.reduce((sum, bytes) => sum + bytes, bytesRead - this.#before);
  }

  /** Reports whether the upload has arrived completely, and waits for the server. */
  get isWhole(): boolean {
    return this.#request.complete;
  }

  /** Checks the rate; called each second. Returns true if the upload has been too slow. */
  tick(): boolean {
    const { socket, readableLength, complete } = this.#request;
    const bytes = socket.bytesRead - this.#before;
    this.#before = socket.bytesRead;
    // The bytes that have arrived are not read yet.
    if (complete || (bytes === 0 && readableLength > 0)) return false;
    this.#seconds.push(bytes);
    if (this.#seconds.length > LEAST_RATE.seconds) this.#seconds.shift();
    const isFull = this.#seconds.length === LEAST_RATE.seconds;
    return isFull && this.lately < LEAST_RATE.bytesPerSecond * LEAST_RATE.seconds;
  }
}
