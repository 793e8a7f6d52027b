/** Networks of addresses: the holdings and spending of a client are counted by its network. */
import ipaddr from 'ipaddr.js';
import { BoundedMap } from './bounded-map.ts';

/** Groups before the IPv4 address: mapped (RFC 4291, section 2.5.5.2), and of NAT64 (RFC 6052, section 2.1). */
const IPV4_PREFIXES = ['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'];

const IPV6_NETWORK = '::/64';

/** Networks of recent addresses: reading one takes microseconds. */
const known = new BoundedMap<string>(4096);

/**
 * Returns the network of a client: an IPv6 client has the 2^64 addresses of its /64, an IPv4 client its one, also if
 * written as IPv6. Other text is returned unchanged.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const seen = known.get(address);
  if (seen !== undefined) return seen;
  const network = networkOf(address);
  known.set(address, network);
  return network;
}

/**
 * Returns the /48 of an IPv6 network, since its tenant has 65,536 networks in it; any other owner is its own site.
 * Shares are given to sites first, and within them to networks (docs/decisions.md#shared-limits).
 */
export function siteOf(owner: string): string {
  return owner.endsWith(IPV6_NETWORK) ? owner.split(':', 3).join(':') : owner;
}

function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  const groups = parts.map((part) => part.toString(16));
  if (IPV4_PREFIXES.includes(groups.slice(0, 6).join(':'))) return ipv4Of(parts.slice(6));
  return groups.slice(0, 4).join(':') + IPV6_NETWORK;
}

function ipv4Of(parts: readonly number[]): string {
  return parts.flatMap((part) => [part >> 8, part & 255]).join('.');
}
