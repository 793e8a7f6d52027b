/** Headers of a request as upstreams receive them (docs/reference/gateway.md#proxying). */
import { type Exchange, headerOf, joinedHeader } from '../exchange.ts';
import { HOPS } from '../headers/hops.ts';

/** Headers that are not forwarded in either direction (RFC 9110 section 7.6.1), or are set anew. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'http2-settings'],
]);
const NOT_TO_UPSTREAM = new Set([
  ...HOP_BY_HOP,
  ...['host', 'expect', 'content-length', 'x-forwarded-for', 'x-real-ip', 'x-request-id'],
]);
/** Headers that pass to an upstream only from a trusted proxy; for others the gateway sets them. */
const FROM_TRUSTED = new Set(['forwarded', 'x-forwarded-proto', 'x-forwarded-host']);

/**
 * Adds them to a list, with `x-forwarded-*` and the request's id, without `host`, framing and trace.
 * `trustedPeer`: the connection comes from a trusted proxy, whose forwarding headers hold
 * (docs/decisions.md#client-address).
 */
export function addForwarded(headers: string[], exchange: Exchange, trustedPeer: boolean): void {
  const from = exchange.headers;
  for (let i = 0; i < from.length; i += 2) {
    const name = from[i] as string;
    if (NOT_TO_UPSTREAM.has(name) || name === 'traceparent' || name === HOPS) continue;
    if (!trustedPeer && FROM_TRUSTED.has(name)) continue;
    headers.push(name, from[i + 1] as string);
  }
  const chain = joinedHeader(from, 'x-forwarded-for');
  headers.push('x-forwarded-for', chain === undefined ? exchange.peer : `${chain}, ${exchange.peer}`);
  if (!trustedPeer) {
    headers.push('x-forwarded-proto', exchange.scheme);
    const host = headerOf(from, 'host');
    if (host !== undefined) headers.push('x-forwarded-host', host);
  }
  // One client: a proxy that appends to X-Forwarded-For may pass on a client's own claim.
  headers.push('x-real-ip', exchange.clientIp);
  headers.push('x-request-id', exchange.requestId);
}
