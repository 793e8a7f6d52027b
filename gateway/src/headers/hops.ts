/**
 * Number of gateways that a request has passed, as a header of every call of a gateway: a plugin or an upstream that
 * leads back to its own gateway would otherwise loop until no other request is served.
 */
import { type HeaderList, headerOf } from '../exchange.ts';

export const HOPS = 'gw-hops';
/** Gateways in front of gateways are two or three. */
export const MAX_HOPS = 10;

/**
 * Returns the caller's count, by default 0: a caller that says more harms itself alone, and malformed counts are
 * ignored.
 */
export function hopsOf(headers: HeaderList): number {
  const said = headerOf(headers, HOPS);
  return said !== undefined && /^\d{1,4}$/.test(said) ? Number(said) : 0;
}
