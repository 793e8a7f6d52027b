/**
 * A connection to an upstream over HTTP/1.1: one request after the other, each with its answer
 * (docs/decisions.md#own-http1-upstream). It is destroyed as soon as it is in doubt where an answer ends.
 */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { HeaderList } from '../../exchange.ts';
import { type MessageHead, MessageParser, type MessageReceiver, ParseError } from '../../http1/message-parser.ts';
import { BodySender } from './body-sender.ts';
import type { PreparedRequest } from './request-head.ts';
import {
  AnswerBrokeOff,
  InvalidAnswer,
  type RequestController,
  type ResponseHandler,
  UpstreamClosed,
} from './response-handler.ts';

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
/** Larger bodies are not copied behind the head. */
const MOST_COPIED_BYTES = 16 << 10;
/** A request is not sent in the last moments in which the upstream says that it waits for one, as undici has it. */
const KEEP_ALIVE_MARGIN_MS = 2000;
const MOST_KEEP_ALIVE_MS = 600_000;
const TIMEOUT = /(?:^|,)[\t ]*timeout=(\d+)/i;

const SWITCHING = 101;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** A request under way, and the parts of its answer that its handler does not take yet. */
class ActiveRequest implements RequestController {
  readonly request: PreparedRequest;
  readonly handler: ResponseHandler;
  readonly #connection: UpstreamConnection;
  sender: BodySender | null = null;
  paused = false;
  /** A byte of the answer has come. */
  answered = false;
  /** The connection may serve another request after this one. */
  keepsConnection: boolean;
  /** Milliseconds for which the connection is kept. */
  idleMs: number;
  /** Pieces of the body that came while the handler was paused. */
  pieces: Buffer[] | null = null;
  /** Bytes behind them, which are not parsed yet. */
  unread: Buffer | null = null;
  /** The answer is whole. */
  trailers: HeaderList | null = null;
  /** The message under way is not the answer. */
  isInformational = false;
  /** Headers of an answer that switches protocols. */
  switching: HeaderList | null = null;
  /** Set by `end`, `upgrade` or `error`. */
  over = false;

  constructor(connection: UpstreamConnection, request: PreparedRequest, handler: ResponseHandler, idleMs: number) {
    this.#connection = connection;
    this.request = request;
    this.handler = handler;
    this.keepsConnection = request.keepsConnection;
    this.idleMs = idleMs;
  }

  pause(): void {
    if (!this.over && !this.paused) this.#connection.pause(this);
  }

  resume(): void {
    if (!this.over && this.paused) this.#connection.resume(this);
  }

  abort(error: Error): void {
    if (!this.over) this.#connection.fail(this, error);
  }

  fail(error: Error): void {
    if (this.over) return;
    this.over = true;
    const { body } = this.request;
    if (this.sender !== null) this.sender.abandon();
    else if (body instanceof Readable) body.destroy();
    this.handler.error(error);
  }
}

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
      const whole = `${head}content-length: ${body.length}\r\n\r\n`;
      if (body.length <= MOST_COPIED_BYTES) return void socket.write(joined(whole, body));
      socket.cork();
      socket.write(whole, 'latin1');
      socket.write(body);
      socket.uncork();
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
    active.handler.upgrade(headers, socket);
  }

  head(head: MessageHead): void {
    const active = this.#active;
    if (active === null) return;
    const { status } = head;
    const headers = head.headers;
    lowerCaseNames(headers);
    if (status < 200) return this.#informed(active, head, headers);
    const keepsConnection = active.keepsConnection && head.keepAlive;
    active.keepsConnection = keepsConnection && !(isBodiless(status) && announcesBody(headers));
    if (active.keepsConnection) this.#keepFor(active, headers);
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

  /** Reads how long the upstream keeps the connection. */
  #keepFor(active: ActiveRequest, headers: HeaderList): void {
    for (let i = 0; i < headers.length; i += 2) {
      if (headers[i] !== 'keep-alive') continue;
      const seconds = TIMEOUT.exec(headers[i + 1] as string)?.[1];
      if (seconds === undefined) continue;
      active.idleMs = Math.min(Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS, MOST_KEEP_ALIVE_MS);
      if (active.idleMs <= 0) active.keepsConnection = false;
    }
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

function isBodiless(status: number): boolean {
  return status === NO_CONTENT || status === NOT_MODIFIED;
}

/** A body may follow although there must not be one. */
function announcesBody(headers: HeaderList): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'transfer-encoding') return true;
    if (headers[i] === 'content-length' && Number(headers[i + 1]) > 0) return true;
  }
  return false;
}

function lowerCaseNames(headers: HeaderList): void {
  for (let i = 0; i < headers.length; i += 2) headers[i] = (headers[i] as string).toLowerCase();
}

function joined(head: string, body: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 'latin1');
  bytes.set(body, head.length);
  return bytes;
}

function invalid(error: ParseError): InvalidAnswer {
  return new InvalidAnswer(`${error.message} (${error.code})`, error.code);
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
