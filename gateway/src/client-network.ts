/** Whom an address belongs to: what one client holds or spends is counted by its network. */
import ipaddr from 'ipaddr.js';
import { BoundedMap } from './bounded-map.ts';

/** Groups before the IPv4 address: mapped (RFC 4291, section 2.5.5.2), and of NAT64 (RFC 6052, section 2.1). */
const IPV4_PREFIXES = ['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'];

/** Of addresses seen lately: to read one takes microseconds. */
const known = new BoundedMap<string>(4096);

/**
 * An IPv6 client has the 2^64 addresses of its /64, an IPv4 client its one, also where that is written as IPv6. What is
 * no IP address is itself.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const seen = known.get(address);
  if (seen !== undefined) return seen;
  const network = networkOf(address);
  known.set(address, network);
  return network;
}

/** Who may have been given the network: of an IPv6 network the /48, of an IPv4 address that address. */
export function clientSite(network: string): string {
  return network.endsWith('::/64') ? `${network.split(':', 3).join(':')}::/48` : network;
}

function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  const groups = parts.map((part) => part.toString(16));
  if (IPV4_PREFIXES.includes(groups.slice(0, 6).join(':'))) return ipv4Of(parts.slice(6));
  return `${groups.slice(0, 4).join(':')}::/64`;
}

function ipv4Of(parts: readonly number[]): string {
  return parts.flatMap((part) => [part >> 8, part & 255]).join('.');
}
