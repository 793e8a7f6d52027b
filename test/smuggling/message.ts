/** Short ways to write requests of the cases; anything unusual is written out. */

/** One request over a bare connection, and what must come of it. */
export interface Case {
  /** Unique; what a reader calls it. */
  readonly name: string;
  /** RFC and section that say so. */
  readonly rfc: string;
  /** In Latin-1. Behind it the test sends `GET /after` on the same connection. */
  readonly bytes: string;
  /** Statuses of refusals, and what the upstream got of what was passed on. */
  readonly answers: readonly string[];
}

/** The connection goes on: what came after the request is answered, too. */
export const AFTER = 'GET /after';

export function get(...fields: string[]): string {
  return head('GET /x HTTP/1.1', ['Host: a', ...fields]);
}

/** A head with no Content-Length of its own, and what follows it. */
export function post(fields: readonly string[], body: string): string {
  return head('POST /x HTTP/1.1', ['Host: a', ...fields]) + body;
}

export function chunked(body: string, ...fields: string[]): string {
  return post(['Transfer-Encoding: chunked', ...fields], body);
}

/** GET with another request line. */
export function line(requestLine: string): string {
  return head(requestLine, ['Host: a']);
}

export function head(requestLine: string, fields: readonly string[]): string {
  return [requestLine, ...fields, '', ''].join('\r\n');
}
