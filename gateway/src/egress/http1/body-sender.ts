/** A request's body that streams to an upstream, as fast as the upstream takes it. */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { PreparedRequest } from './request-head.ts';
import { writeTogether } from './write-together.ts';

export class BodySender {
  readonly #body: Readable;
  readonly #request: PreparedRequest;
  readonly #socket: Socket;
  readonly #failed: (error: Error) => void;
  #bytes = 0;
  #done = false;

  /** Begins. `failed`: the body broke off, or is not as long as announced; what was sent is not a whole request. */
  constructor(body: Readable, request: PreparedRequest, socket: Socket, failed: (error: Error) => void) {
    this.#body = body;
    this.#request = request;
    this.#socket = socket;
    this.#failed = failed;
    // It may fail later than anyone listens.
    body.on('error', ignore);
    if (body.errored !== null) process.nextTick(() => this.#fail(body.errored ?? brokeOff()));
    else if (body.readableEnded) process.nextTick(() => this.#end());
    else if (body.destroyed) process.nextTick(() => this.#fail(brokeOff()));
    else {
      body.on('data', this.#send).on('end', this.#end).on('error', this.#fail).on('close', this.#close);
      body.resume();
    }
  }

  /** The head is written. */
  get begun(): boolean {
    return this.#done || this.#bytes > 0;
  }

  /** All of it is written. */
  get done(): boolean {
    return this.#done;
  }

  /** The socket takes more. */
  drained(): void {
    if (!this.#done) this.#body.resume();
  }

  /** The rest is not wanted. */
  abandon(): void {
    if (this.#done) return;
    this.#leave();
    this.#body.destroy();
  }

  #leave(): void {
    this.#done = true;
    this.#body.off('data', this.#send).off('end', this.#end).off('error', this.#fail).off('close', this.#close);
  }

  readonly #send = (chunk: Uint8Array): void => {
    if (chunk.length === 0) return;
    const { length } = this.#request;
    const isFirst = this.#bytes === 0;
    this.#bytes += chunk.length;
    if (length !== null && this.#bytes > length) return this.#fail(new Error('the body is longer than its length'));
    const socket = this.#socket;
    let before = '';
    if (isFirst) before = this.#begin(chunk.length);
    else if (length === null) before = `\r\n${chunk.length.toString(16)}\r\n`;
    const takesMore = before === '' ? socket.write(chunk) : writeTogether(socket, before, chunk);
    if (!takesMore) this.#body.pause();
  };

  /** The head waits for the first piece, so that a body that turns out to be empty has no chunks. */
  #begin(firstBytes: number): string {
    const { head, length } = this.#request;
    return length === null
      ? `${head}transfer-encoding: chunked\r\n\r\n${firstBytes.toString(16)}\r\n`
      : `${head}content-length: ${length}\r\n\r\n`;
  }

  readonly #end = (): void => {
    if (this.#done) return;
    const { head, length, expectsBody } = this.#request;
    if (length !== null && this.#bytes < length) return this.#fail(new Error('the body is shorter than its length'));
    this.#leave();
    if (this.#bytes === 0) this.#socket.write(`${head}${expectsBody ? 'content-length: 0\r\n' : ''}\r\n`, 'latin1');
    else if (length === null) this.#socket.write('\r\n0\r\n\r\n', 'latin1');
  };

  readonly #close = (): void => this.#fail(this.#body.errored ?? brokeOff());

  readonly #fail = (error: Error): void => {
    if (this.#done) return;
    this.#leave();
    this.#failed(error);
    this.#body.destroy();
  };
}

function brokeOff(): Error {
  return new Error('the body of the request broke off');
}

function ignore(): void {}
