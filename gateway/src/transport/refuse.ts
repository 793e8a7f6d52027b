/**
 * The transport's own answers: to bytes that Node's parser refused (docs/decisions.md#refusals-are-ours), and to
 * clients that are too slow.
 */

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Exchange, type HeaderList, type Responder, type ResponseSink } from '../exchange.ts';
import { addStandardHeaders, identify } from '../headers/standard.ts';
import { GAVE_WAY, noRoomForResponse, type Problem, problem, renderProblem } from '../problems.ts';
import type { ValidationReason } from '../telemetry/metric-table.ts';
import type { Refused } from '../telemetry/recorder.ts';

/** An error of the parser, as node:http tells it. */
export interface ParserError extends NodeJS.ErrnoException {
  /** The bytes read last. */
  readonly rawPacket?: Buffer;
}

interface Verdict {
  readonly reason: ValidationReason | null;
  readonly answer: Problem;
}

function verdictOf(error: ParserError, { firstLineEnds, maxUriLength }: RefusedConnection): Verdict {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW': {
      if (!firstLineEnds && isOneWord(error.rawPacket)) {
        const detail = `The URI is longer than the gateway reads; the limit is ${maxUriLength} bytes.`;
        return { reason: 'uri-length', answer: problem('validation-failed', detail) };
      }
      const detail = 'The headers together are larger than the gateway reads.';
      return { reason: 'header-size', answer: problem('header-too-large', detail) };
    }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      // A slow request is not a malformed one.
      return { reason: null, answer: problem('request-timeout', 'The request did not arrive in time.') };
    default:
      return { reason: 'malformed', answer: problem('malformed-request', 'The request is not valid HTTP/1.1.') };
  }
}

/** Within a URI there is neither a space nor the end of a line. */
function isOneWord(bytes: Buffer | undefined): boolean {
  return bytes !== undefined && !bytes.includes(' ') && !bytes.includes('\n');
}

/** The client has left, or said that it sends no more in the middle of a request. */
export const GONE: ReadonlySet<string> = new Set(['ECONNRESET', 'HPE_INVALID_EOF_STATE']);
/** Milliseconds that the client gets to read a refusal and close. */
export const LINGER_MS = 2000;

export interface RefusedConnection {
  readonly socket: Socket;
  readonly scheme: string;
  readonly peer: string;
  /** The parser stopped after a whole request line, as far as is known. */
  readonly firstLineEnds: boolean;
  readonly maxUriLength: number;
}

/** The known parts of a request that is refused without the pipeline. */
export interface UnservedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: HeaderList;
}

/** Stands for bytes that are not a request. */
const UNREADABLE: UnservedRequest = { method: '', target: '', headers: [] };

/** The connection itself, without a response of node:http on it. */
class RawResponse implements Responder {
  readonly #socket: Socket;
  headSent = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Closes the connection behind it. */
  send(_exchange: Exchange, status: number, headers: HeaderList, body: Uint8Array | string | null): void {
    this.headSent = true;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    this.#socket.write(`${head}connection: close\r\n\r\n`, 'latin1');
    this.#socket.end(body ?? '');
    const cut = setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
    this.#socket.once('close', () => clearTimeout(cut));
  }

  stream(): ResponseSink {
    throw new Error('a refusal is whole');
  }

  abort(): void {
    this.#socket.destroy();
  }
}

/**
 * Sends a problem document and closes the connection, on which no response is under way. Null if the connection was
 * gone already.
 */
export function refuse(connection: RefusedConnection, error: ParserError, request = UNREADABLE): Refused | null {
  const { socket, scheme, peer } = connection;
  if (GONE.has(error.code ?? '') || !socket.writable) {
    socket.destroy();
    return null;
  }
  const exchange = new Exchange(new RawResponse(socket), { ...request, scheme, clientIp: peer, body: null });
  const { reason, answer } = verdictOf(error, connection);
  const { status, headers, body } = refusalOf(exchange, answer);
  exchange.responder.send(exchange, status, headers, body);
  return { exchange, status, reason, bytes: Buffer.byteLength(body) };
}

/** An answer of the transport's own to a request that the pipeline has. */
export interface Refusal {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

/** Refuses a request whose body has stopped. */
export function tooSlow(exchange: Exchange): Refusal {
  return refusalOf(exchange, problem('request-timeout', 'The request body did not arrive in time.'));
}

/** Status of a request whose headers find no room. */
export const NO_HEADER_ROOM = 429;

/** Refuses such a request. */
export function noHeaderRoom(exchange: Exchange): Refusal {
  const detail =
    'Requests of this client hold as many bytes of headers as the gateway admits. Try again when they end.';
  return refusalOf(exchange, problem('rate-limited', detail));
}

/** Refuses a request whose response finds no room. */
export function noResponseRoom(exchange: Exchange): Refusal {
  return refusalOf(exchange, noRoomForResponse());
}

/** Refuses a request whose memory others need. */
export function gaveWay(exchange: Exchange): Refusal {
  return refusalOf(exchange, problem('overloaded', GAVE_WAY));
}

/** Refuses an extended CONNECT for another protocol than WebSocket (RFC 9220, section 3). */
export function unknownProtocol(exchange: Exchange): Refusal {
  return refusalOf(exchange, problem('not-implemented', 'The :protocol of the request is not spoken here.'));
}

/** Refuses a request whose body is not validly framed. */
export function unreadable(exchange: Exchange): Refusal {
  return refusalOf(exchange, problem('malformed-request', 'The request body is not validly framed.'));
}

const IDENTIFIERS: ReadonlySet<string> = new Set(['x-request-id', 'traceparent', 'tracestate']);

function refusalOf(exchange: Exchange, refusal: Problem): Refusal {
  if (exchange.requestId === '') {
    // The pipeline has not seen it, so only its identifiers are used.
    exchange.headers = exchange.rawHeaders.flatMap((name, i) =>
      i % 2 === 0 && IDENTIFIERS.has(name.toLowerCase())
        ? [name.toLowerCase(), exchange.rawHeaders[i + 1] as string]
        : [],
    );
    identify(exchange);
  }
  const body = renderProblem(refusal);
  const headers = ['content-type', 'application/problem+json', 'content-length', String(Buffer.byteLength(body))];
  addStandardHeaders(exchange, headers);
  return { status: refusal.status, headers, body };
}
