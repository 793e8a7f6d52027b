/** How an answer of an upstream over HTTP/1.1 is received, and the ways in which it fails. */
import type { Duplex } from 'node:stream';
import type { HeaderList } from '../../exchange.ts';

export interface ResponseHead {
  readonly status: number;
  /** Lower-case names and values in turn, as they came, with those that frame the body. */
  readonly headers: HeaderList;
  /** Bytes of the body; -1 if only its end tells. */
  readonly length: number;
  /** The body ends with the connection. */
  readonly endsByClosing: boolean;
}

/** Receives the answer to one request. After `upgrade`, `end` or `error` nothing more comes. */
export interface ResponseHandler {
  /** There is a connection; the request is written next. */
  start(controller: RequestController): void;
  /** An informational response (1xx) has come. */
  informational(status: number, headers: HeaderList): void;
  head(head: ResponseHead): void;
  data(chunk: Buffer): void;
  /** The answer is whole. `trailers`: lower-case names and values in turn. */
  end(trailers: HeaderList): void;
  /** The upstream goes on in the protocol that was asked for. The connection is the handler's, without listeners. */
  upgrade(headers: HeaderList, connection: Duplex): void;
  /** No answer, or no whole one, will come. */
  error(error: Error): void;
}

/** Has no effect once the answer has ended. */
export interface RequestController {
  /** Nothing more is received, or read from the connection, until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends request and connection; the handler gets the error. */
  abort(error: Error): void;
}

/** The upstream closed the connection before a byte of its answer, as it may with one that was kept. */
export class UpstreamClosed extends Error {
  readonly code = 'GW_UPSTREAM_CLOSED';

  constructor() {
    super('the upstream closed the connection without an answer');
  }
}

/** The connection ended within an answer. */
export class AnswerBrokeOff extends Error {
  readonly code = 'GW_UPSTREAM_BROKE_OFF';

  constructor(cause?: Error) {
    const detail = cause === undefined ? '' : ` (${cause.message})`;
    super(`the upstream closed the connection within its answer${detail}`, { cause });
  }
}

/** An answer that is not valid HTTP/1.1, or not valid for the request. */
export class InvalidAnswer extends Error {
  /** Name of llhttp's error, where llhttp found it. */
  readonly code: string;

  constructor(reason: string, code = 'GW_INVALID_ANSWER') {
    super(`its answer is not valid: ${reason}`);
    this.code = code;
  }
}
