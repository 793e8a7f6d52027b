/** Which headers go on to an upstream and to a client, and what the gateway says itself (docs/reference/gateway.md#proxying). */
import { type Exchange, type HeaderList, headerOf, joinedHeader } from '../exchange.ts';
import { HOPS } from '../headers/hops.ts';
import { STANDARD_NAMES } from '../headers/standard.ts';
import type { Span } from '../spans/span.ts';
import { traceparentOf } from '../telemetry/trace-context.ts';

/** As undici parses them. */
export type ParsedHeaders = Record<string, string | string[] | undefined>;

/** Not forwarded in either direction (RFC 9110 section 7.6.1), nor what is set anew. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);
const NOT_TO_UPSTREAM = new Set([...HOP_BY_HOP, 'host', 'expect', 'content-length', 'x-forwarded-for', 'x-request-id']);
const NOT_TO_CLIENT = new Set([...HOP_BY_HOP, ...STANDARD_NAMES]);
const NOT_IN_TRAILERS = new Set([
  ...['content-encoding', 'content-length', 'content-range', 'content-type', 'host', 'cache-control', 'location'],
  ...['set-cookie', 'www-authenticate', 'authorization', 'retry-after', 'vary', 'date', 'expires', 'age'],
]);
/** What only a trusted proxy may say to an upstream; from others we say it ourselves. */
const FROM_TRUSTED = new Set(['forwarded', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip']);

export interface Forwarded {
  readonly x: Exchange;
  /** `Host` of the upstream. */
  readonly authority: string;
  /** Whether the connection comes from a trusted proxy, whose forwarding headers hold. */
  readonly trustedPeer: boolean;
  /** Of the call; null where the request is not traced. */
  readonly span: Span | null;
}

/** Those of the request that the client sent, and the gateway's own. */
export function requestHeaders({ x, authority, trustedPeer, span }: Forwarded): HeaderList {
  const headers: string[] = ['host', authority];
  const from = x.headers;
  for (let i = 0; i < from.length; i += 2) {
    const name = from[i] as string;
    if (NOT_TO_UPSTREAM.has(name) || name === 'traceparent' || name === HOPS) continue;
    if (!trustedPeer && FROM_TRUSTED.has(name)) continue;
    headers.push(name, from[i + 1] as string);
  }
  const chain = joinedHeader(from, 'x-forwarded-for');
  headers.push('x-forwarded-for', chain === undefined ? x.peer : `${chain}, ${x.peer}`);
  if (!trustedPeer) {
    headers.push('x-forwarded-proto', x.scheme);
    const host = headerOf(from, 'host');
    if (host !== undefined) headers.push('x-forwarded-host', host);
    headers.push('x-real-ip', x.clientIp);
  }
  headers.push('x-request-id', x.requestId, HOPS, String(x.hops + 1));
  const traceparent = traceparentOf(x, span === null ? null : span.id);
  if (traceparent !== null) headers.push('traceparent', traceparent);
  return headers;
}

/** Those of an upstream's response that the client gets. */
export function responseHeaders(parsed: ParsedHeaders): HeaderList {
  const headers: string[] = [];
  const connection = parsed['connection'];
  const hops = typeof connection === 'string' && connection !== 'keep-alive' ? tokens(connection) : undefined;
  for (const name in parsed) {
    if (NOT_TO_CLIENT.has(name) || hops?.has(name)) continue;
    const value = parsed[name];
    if (typeof value === 'string') headers.push(name, value);
    else if (value) for (const each of value) headers.push(name, each);
  }
  return headers;
}

/** Without fields that frame, route or authenticate a message (RFC 9110, section 6.5.1). */
export function trailerFields(parsed: ParsedHeaders): HeaderList {
  const kept = Object.entries(parsed).filter(([name]) => !NOT_IN_TRAILERS.has(name));
  return responseHeaders(Object.fromEntries(kept));
}

function tokens(list: string): Set<string> {
  return new Set(list.split(',').map((token) => token.trim().toLowerCase()));
}
