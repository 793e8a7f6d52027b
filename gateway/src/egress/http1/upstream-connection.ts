/**
 * A connection to an upstream over HTTP/1.1: one request after the other, each with its answer
 * (docs/decisions.md#own-http1-upstream). It is destroyed as soon as it is in doubt where an answer ends.
 */
import type { Socket } from 'node:net';
import type { HeaderList } from '../../exchange.ts';
import { type MessageHead, MessageParser, type MessageReceiver } from '../../http1/message-parser.ts';
import { ParseError } from '../../http1/parse-error.ts';
import { ActiveRequest } from './active-request.ts';
import { BodySender } from './body-sender.ts';
import { keptMs } from './keep-alive.ts';
import type { PreparedRequest } from './request-head.ts';
import { AnswerBrokeOff, InvalidAnswer, type ResponseHandler, UpstreamClosed } from './response-handler.ts';
import { writeTogether } from './write-together.ts';

export interface ConnectionOwner {
  /** Milliseconds for which a connection is kept, if the upstream does not say otherwise. */
  readonly idleMs: number;
  /** The connection has answered, and may serve another request within so many milliseconds. */
  released(connection: UpstreamConnection, idleMs: number): void;
  /** The event loop has read once more since the connection was released. */
  rested(connection: UpstreamConnection): void;
  /** The connection is gone, or is no longer one for requests. */
  closed(connection: UpstreamConnection): void;
}

const MOST_HEAD_BYTES = 64 << 10;
const SWITCHING = 101;

export class UpstreamConnection implements MessageReceiver {
  /** When the upstream may close it, on the monotonic clock in milliseconds. */
  keptUntil = 0;
  readonly owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #parser: MessageParser;
  /** Null while the connection is idle. */
  #active: ActiveRequest | null = null;
  #proceeding = false;
  /** The upstream sends nothing more. */
  #ended = false;
  #gone = false;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.owner = owner;
    this.#parser = new MessageParser('response', this, MOST_HEAD_BYTES);
    socket.on('data', this.#onData).on('end', this.#onEnd).on('drain', this.#onDrain);
    socket.on('error', this.#onError).on('close', this.#onClose);
    // The client's connections hold the process.
    socket.unref();
  }

  /** Another request can be sent, as far as is known. */
  get isUsable(): boolean {
    return this.#active === null && !this.#gone && this.#socket.writable;
  }

  /** Never throws: the handler gets errors, after `start`. */
  send(request: PreparedRequest, handler: ResponseHandler): void {
    const active = new ActiveRequest(this, request, handler, this.owner.idleMs);
    this.#active = active;
    this.#parser.answersHead = request.method === 'HEAD';
    try {
      handler.start(active);
      if (this.#active === active) this.#write(active);
    } catch (error) {
      this.fail(active, errorOf(error));
    }
  }

  #write(active: ActiveRequest): void {
    const { request } = active;
    const { head, body, expectsBody } = request;
    const socket = this.#socket;
    if (body === null) {
      socket.write(expectsBody ? `${head}content-length: 0\r\n\r\n` : `${head}\r\n`, 'latin1');
    } else if (body instanceof Uint8Array) {
      writeTogether(socket, `${head}content-length: ${body.length}\r\n\r\n`, body);
    } else active.sender = new BodySender(body, request, socket, (error) => this.fail(active, error));
  }

  pause(active: ActiveRequest): void {
    active.paused = true;
    this.#socket.pause();
  }

  resume(active: ActiveRequest): void {
    active.paused = false;
    // An idle connection is read, too.
    this.#socket.resume();
    this.#proceed(active);
  }

  /** Ends the connection, and the request that is under way on it. */
  fail(active: ActiveRequest, error: Error): void {
    if (this.#active === active) {
      this.#active = null;
      this.destroy();
    }
    active.fail(error);
  }

  destroy(): void {
    this.#socket.destroy();
    this.#leave();
  }

  #leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#parser.free();
    this.owner.closed(this);
  }

  readonly #onData = (bytes: Buffer): void => {
    const active = this.#active;
    // A response that nobody asked for must not become the answer to the next request.
    if (active === null) return this.destroy();
    active.answered = true;
    if (active.sender !== null && !active.sender.begun) {
      return this.fail(active, new InvalidAnswer('it comes before the request'));
    }
    active.unread = active.unread === null ? bytes : Buffer.concat([active.unread, bytes]);
    this.#proceed(active);
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    if (this.#active === null) this.destroy();
    else this.#proceed(this.#active);
  };

  readonly #onDrain = (): void => this.#active?.sender?.drained();

  readonly #onError = (error: Error): void => {
    const active = this.#active;
    if (active === null) return;
    // The handler has yet to take an answer that is whole.
    if (active.trailers !== null) active.keepsConnection = false;
    else this.fail(active, active.answered ? new AnswerBrokeOff(error) : error);
  };

  readonly #onClose = (): void => {
    const active = this.#active;
    this.#ended = true;
    if (active !== null) this.#proceed(active);
    // Its handler is paused: what has come is for it.
    if (this.#active === null) this.#leave();
  };

  /** Hands on what has come, up to a pause, the end of the answer or that of the connection. */
  #proceed(active: ActiveRequest): void {
    if (this.#proceeding) return;
    this.#proceeding = true;
    try {
      while (this.#active === active && !active.paused && this.#step(active));
    } catch (error) {
      this.fail(active, error instanceof ParseError ? invalid(error) : errorOf(error));
    } finally {
      this.#proceeding = false;
    }
  }

  /** Returns whether there may be more. */
  #step(active: ActiveRequest): boolean {
    if (active.pieces !== null) this.#handOn(active, active.pieces);
    else if (active.switching !== null) this.#switch(active, active.switching);
    else if (active.trailers !== null) this.#complete(active, active.trailers);
    else if (active.unread !== null) this.#read(active, active.unread);
    else if (this.#ended) this.#finish(active);
    else return false;
    return true;
  }

  #handOn(active: ActiveRequest, pieces: Buffer[]): void {
    const piece = pieces.shift();
    if (pieces.length === 0) active.pieces = null;
    if (piece !== undefined) active.handler.data(piece);
  }

  #read(active: ActiveRequest, bytes: Buffer): void {
    active.unread = null;
    const read = this.#parser.read(bytes);
    if (read < bytes.length) active.unread = bytes.subarray(read);
  }

  /** The connection has ended, and all that came was read. */
  #finish(active: ActiveRequest): void {
    if (!active.answered) return this.fail(active, new UpstreamClosed());
    try {
      this.#parser.finish();
    } catch {
      return this.fail(active, new AnswerBrokeOff());
    }
    if (active.trailers === null) this.fail(active, new AnswerBrokeOff());
  }

  #complete(active: ActiveRequest, trailers: HeaderList): void {
    this.#active = null;
    active.over = true;
    const { sender } = active;
    const isSent = sender === null || sender.done;
    if (!isSent) sender.abandon();
    if (active.keepsConnection && isSent && active.unread === null && this.#isClean) {
      this.owner.released(this, active.idleMs);
    } else this.destroy();
    try {
      active.handler.end(trailers);
    } catch (error) {
      active.handler.error(errorOf(error));
    }
  }

  /** Nothing of a request waits to be written, and the upstream has not ended the connection. */
  get #isClean(): boolean {
    return !this.#ended && this.#socket.writable && this.#socket.writableLength === 0;
  }

  #switch(active: ActiveRequest, headers: HeaderList): void {
    this.#active = null;
    active.over = true;
    const socket = this.#socket;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('drain', this.#onDrain);
    socket.off('error', this.#onError).off('close', this.#onClose);
    // As node:http leaves it: the handler decides when it flows.
    socket.readableFlowing = null;
    if (active.unread !== null) socket.unshift(active.unread);
    socket.ref();
    this.#leave();
    try {
      active.handler.upgrade(headers, socket);
    } catch (error) {
      socket.destroy();
      active.handler.error(errorOf(error));
    }
  }

  head(head: MessageHead): void {
    const active = this.#active;
    if (active === null) return;
    const { status } = head;
    const headers = head.headers;
    lowerCaseNames(headers);
    if (status < 200) return this.#informed(active, head, headers);
    if (active.keepsConnection) {
      active.idleMs = keptMs(head, active.idleMs);
      active.keepsConnection = active.idleMs > 0;
    }
    active.handler.head({ status, headers, length: head.length, endsByClosing: head.endsByClosing });
  }

  #informed(active: ActiveRequest, { status, upgrade }: MessageHead, headers: HeaderList): void {
    if (status === 100) throw new InvalidAnswer('it continues a request that does not wait for it (100)');
    active.isInformational = true;
    if (status !== SWITCHING) return active.handler.informational(status, headers);
    if (!upgrade || active.request.upgrade === null) {
      throw new InvalidAnswer('it switches to no protocol that was asked for');
    }
    active.switching = headers;
  }

  data(chunk: Buffer): void {
    const active = this.#active;
    if (active === null) return;
    if (!active.paused && active.pieces === null) return active.handler.data(chunk);
    active.pieces ??= [];
    active.pieces.push(chunk);
  }

  end(trailers: readonly string[]): void {
    const active = this.#active;
    if (active === null) return;
    if (active.isInformational) active.isInformational = false;
    else active.trailers = trailers.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text));
  }
}

function lowerCaseNames(headers: HeaderList): void {
  for (let i = 0; i < headers.length; i += 2) headers[i] = (headers[i] as string).toLowerCase();
}

function invalid(error: ParseError): InvalidAnswer {
  return new InvalidAnswer(`${error.message} (${error.code})`, error.code);
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
