/**
 * Owners of things that are held or wait: they are nested, so that neither many addresses nor many names are many
 * owners.
 */
import { clientNetwork, siteOf } from '../client-network.ts';
import { type Exchange, headerOf } from '../exchange.ts';
import type { OwnerPath } from './owner-path.ts';

/** Characters of a consumer's name that tell it from others. */
const MOST_NAME = 128;

/** The client's network: IPv4 by address, IPv6 by /48 and within it by /64. */
export function networkOf({ clientIp }: Pick<Exchange, 'clientIp'>): OwnerPath {
  const network = clientNetwork(clientIp);
  const site = siteOf(network);
  return site === network ? [network] : [site, network];
}

/** The consumer that a plugin has identified, else the client's network. */
export function ownerOf(exchange: Pick<Exchange, 'clientIp' | 'headers'>): OwnerPath {
  const consumer = headerOf(exchange.headers, 'x-auth-consumer');
  return consumer === undefined || consumer === '' ? networkOf(exchange) : [`consumer ${consumer.slice(0, MOST_NAME)}`];
}
