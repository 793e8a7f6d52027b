/** Answers of the transport's own: to bytes that Node's parser refused (D17), and to clients that are too slow. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Exchange, HeaderList } from '../exchange.ts';
import { addStandardHeaders } from '../headers/standard.ts';
import { type Problem, problem, renderProblem } from '../problems.ts';
import { VERSION } from '../version.ts';

function problemOf(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return problem('header-too-large', 'The headers together are larger than the gateway reads.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('request-timeout', 'The request did not arrive in time.');
    default:
      return problem('malformed-request', 'The request is not valid HTTP/1.1.');
  }
}

/** The client has left, or said that it sends no more in the middle of a request. */
export const GONE: ReadonlySet<string> = new Set(['ECONNRESET', 'HPE_INVALID_EOF_STATE']);
/** Milliseconds that the client gets to read a refusal and close. */
export const LINGER_MS = 2000;

/**
 * Sends a problem document and closes the connection, on which no response is under way. The status that was sent, or
 * null where the connection was gone already.
 */
export function refuse(socket: Socket, error: NodeJS.ErrnoException): number | null {
  if (GONE.has(error.code ?? '') || !socket.writable) {
    socket.destroy();
    return null;
  }
  const refusal = problemOf(error.code);
  const body = renderProblem(refusal);
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n` +
      `server: gw/${VERSION}\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-content-type-options: nosniff\r\nx-frame-options: DENY\r\nconnection: close\r\n\r\n${body}`,
  );
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(cut));
  return refusal.status;
}

/** An answer of the transport's own to a request that the pipeline has. */
export interface Refusal {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

/** To a request whose body does not go on. */
export function tooSlow(x: Exchange): Refusal {
  return refusalOf(x, problem('request-timeout', 'The request body did not arrive in time.'));
}

/** To a request whose body is not validly framed. */
export function unreadable(x: Exchange): Refusal {
  return refusalOf(x, problem('malformed-request', 'The request body is not validly framed.'));
}

function refusalOf(x: Exchange, refusal: Problem): Refusal {
  const body = renderProblem(refusal);
  const headers = ['content-type', 'application/problem+json', 'content-length', String(Buffer.byteLength(body))];
  addStandardHeaders(x, headers);
  return { status: refusal.status, headers, body };
}
