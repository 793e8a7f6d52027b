/**
 * Response headers that every answer carries (docs/reference/gateway.md#response-headers), and the identifiers behind
 * two of them.
 */
import { randomUUID } from 'node:crypto';
import { type Exchange, type HeaderList, headerOf } from '../exchange.ts';
import { takeTraceContext } from '../telemetry/trace-context.ts';
import { VERSION } from '../version.ts';

const SERVER = `gw/${VERSION}`;

/** The gateway's headers replace those of an upstream or plugin under these names. */
export const STANDARD_NAMES: ReadonlySet<string> = new Set([
  'server',
  'x-request-id',
  'x-trace-id',
  'x-content-type-options',
  'x-frame-options',
]);

export function addStandardHeaders(exchange: Exchange, headers: HeaderList): void {
  removeStandard(headers);
  headers.push('server', SERVER, 'x-request-id', exchange.requestId, 'x-trace-id', exchange.traceId);
  headers.push('x-content-type-options', 'nosniff', 'x-frame-options', 'DENY');
}

/** Removes headers that plugins have set: answers of upstreams come without them. */
function removeStandard(headers: HeaderList): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    if (STANDARD_NAMES.has(headers[i] as string)) headers.splice(i, 2);
  }
}

/** Sets request id and trace context from the request, or new ones. */
export function identify(exchange: Exchange): void {
  const requestId = headerOf(exchange.headers, 'x-request-id');
  exchange.requestId = requestId !== undefined && isPlain(requestId) ? requestId : randomUUID();
  takeTraceContext(exchange);
}

/** Up to 128 visible ASCII characters: anything else from a client is not echoed. */
function isPlain(value: string): boolean {
  if (value.length === 0 || value.length > 128) return false;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code < 0x21 || code > 0x7e) return false;
  }
  return true;
}
