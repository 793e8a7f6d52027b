/** A request's body as it arrives: counted, held to the limit, and read only when someone wants it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

/** The body grew past `--max-body-size` while it streamed. */
export class BodyTooLarge extends Error {
  readonly received: number;
  constructor(received: number) {
    super('the request body is larger than the limit');
    this.received = received;
  }
}

/**
 * Stands between the connection and whoever reads the body, so that an upstream that answers early or fails does
 * not tear down the client's connection. Sends `100 Continue`, where the client waits for it, on the first read.
 */
export class IncomingBody extends Readable {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse | null;
  readonly #limit: number;
  received = 0;
  #started = false;

  /** `response` only where the client expects `100 Continue`. */
  constructor(request: IncomingMessage, limit: number, response: ServerResponse | null) {
    super({ highWaterMark: 64 << 10 });
    this.#request = request;
    this.#limit = limit;
    this.#response = response;
  }

  #start(): void {
    this.#started = true;
    this.#response?.writeContinue();
    const request = this.#request;
    request.on('data', (chunk: Buffer) => {
      this.received += chunk.length;
      if (this.received > this.#limit) {
        request.pause();
        this.destroy(new BodyTooLarge(this.received));
      } else if (!this.push(chunk)) request.pause();
    });
    request.on('end', () => this.push(null));
    request.on('error', (error) => this.destroy(error));
    request.on('close', () => {
      if (!request.complete) this.destroy(new Error('the client went away'));
    });
  }

  override _read(): void {
    if (this.#started) this.#request.resume();
    else this.#start();
  }
}
