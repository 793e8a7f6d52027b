/** Headers on their way through the proxy, in both directions (docs/reference/gateway.md#proxying). */
import type { Readable } from 'node:stream';
import { type Exchange, type HeaderList, joinedHeader } from '../exchange.ts';
import type { HandOff } from '../hand-off.ts';
import { HOPS } from '../headers/hops.ts';
import { STANDARD_NAMES } from '../headers/standard.ts';
import type { Span } from '../spans/span.ts';
import { traceparentOf } from '../telemetry/trace-context.ts';
import { without } from './call-headers.ts';
import { addForwarded, HOP_BY_HOP } from './forwarded-headers.ts';
import type { DispatchTarget } from './named/dispatch-target.ts';
import type { HttpUpstream } from './upstream.ts';

/** Asks the upstream to go on in another protocol (RFC 9110, section 7.8); any other answer is a response as always. */
export interface UpstreamUpgrade {
  readonly protocol: string;
  /** Adds the protocol's headers to the request. */
  apply(headers: HeaderList): void;
  /** Returns the fault of an answer that switches protocols, by its status, headers and `Upgrade`; null if valid. */
  faultOf(status: number, headers: HeaderList, upgrade: string): string | null;
}

export interface ProxyRequest {
  readonly exchange: Exchange;
  readonly handOff: HandOff;
  /** The same as in the hand-off. */
  readonly upstream: DispatchTarget<HttpUpstream>;
  /**
   * Whether the connection comes from a trusted proxy, whose forwarding headers hold
   * (docs/decisions.md#client-address).
   */
  readonly trustedPeer: boolean;
  /** The body to send: in memory, or streaming. */
  readonly body: Uint8Array | Readable | null;
  /** Content-Length of a streaming body, if known and still true. */
  readonly contentLength: string | undefined;
  readonly upgrade: UpstreamUpgrade | null;
}

const NOT_TO_CLIENT = new Set([...HOP_BY_HOP, ...STANDARD_NAMES]);
const NOT_IN_TRAILERS = new Set([
  ...['content-encoding', 'content-length', 'content-range', 'content-type', 'host', 'cache-control', 'location'],
  ...['set-cookie', 'www-authenticate', 'authorization', 'retry-after', 'vary', 'date', 'expires', 'age'],
]);

/**
 * Returns the headers of a request for a server. `authority`: host and port of it. `span`: of the call, if the request is
 * traced.
 */
export function requestHeaders(
  { exchange, trustedPeer, body, contentLength }: ProxyRequest,
  authority: string,
  span: Span | null,
): string[] {
  const headers: string[] = ['host', authority];
  addForwarded(headers, exchange, trustedPeer);
  headers.push(HOPS, String(exchange.hops + 1));
  const traceparent = traceparentOf(exchange, span === null ? null : span.id);
  if (traceparent !== null) headers.push('traceparent', traceparent);
  if (body instanceof Uint8Array) headers.push('content-length', String(body.length));
  else if (contentLength !== undefined) headers.push('content-length', contentLength);
  return headers;
}

/** Returns an upstream's headers for the client. */
export function responseHeaders(received: HeaderList): HeaderList {
  const connection = joinedHeader(received, 'connection');
  const hops = connection !== undefined && connection !== 'keep-alive' ? tokens(connection) : null;
  const headers: string[] = [];
  for (let i = 0; i < received.length; i += 2) {
    const name = received[i] as string;
    if (NOT_TO_CLIENT.has(name) || hops?.has(name)) continue;
    headers.push(name, received[i + 1] as string);
  }
  return headers;
}

/** Without fields that frame, route or authenticate a message (RFC 9110, section 6.5.1). */
export function trailerFields(received: HeaderList): HeaderList {
  return responseHeaders(without(received, (name) => NOT_IN_TRAILERS.has(name)));
}

function tokens(list: string): Set<string> {
  return new Set(list.split(',').map((token) => token.trim().toLowerCase()));
}
