/** A request that is under way on a connection to an upstream. */
import { Readable } from 'node:stream';
import type { HeaderList } from '../../exchange.ts';
import type { BodySender } from './body-sender.ts';
import type { PreparedRequest } from './request-head.ts';
import type { RequestController, ResponseHandler } from './response-handler.ts';

/** The connection of a request. */
interface RequestConnection {
  pause(active: ActiveRequest): void;
  resume(active: ActiveRequest): void;
  fail(active: ActiveRequest, error: Error): void;
}

/** A request under way, and the parts of its answer that its handler does not take yet. */
export class ActiveRequest implements RequestController {
  readonly request: PreparedRequest;
  readonly handler: ResponseHandler;
  readonly #connection: RequestConnection;
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

  constructor(connection: RequestConnection, request: PreparedRequest, handler: ResponseHandler, idleMs: number) {
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
