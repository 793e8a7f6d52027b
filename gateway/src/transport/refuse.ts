/** Answers bytes that Node's parser refused with a problem document of ours (D17), and closes the connection. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
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

/** The status that was sent, or null where the connection was gone already or had a response under way. */
export function refuse(socket: Socket & { _httpMessage?: unknown }, error: NodeJS.ErrnoException): number | null {
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage) {
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
  return refusal.status;
}
