/**
 * Answers to connections that do not speak valid HTTP, before there is a request: problem documents, too
 * (docs/decisions.md#control-media-types).
 */

import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import { PROBLEM_TYPE } from '../api/media-types.ts';

interface Fault {
  readonly status: string;
  readonly detail: string;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    detail: 'the header fields are larger than 16 KiB together',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', detail: 'the request took too long to arrive' },
};
const MALFORMED: Fault = { status: '400 Bad Request', detail: 'what was received is not an HTTP/1.1 request' };

/** Refuses a connection; the handler of `fastify({ clientErrorHandler })`. */
export function refuseClient(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, detail } = FAULTS[error.code] ?? MALFORMED;
  const title = status.slice(4);
  const body = JSON.stringify({ type: 'urn:gw:error:bad-request', title, status: Number.parseInt(status, 10), detail });
  const head = [
    `HTTP/1.1 ${status}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
