/**
 * The client's address (docs/decisions.md#client-address): the connection's, unless that is a trusted proxy; then the
 * forwarded chain decides.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type HeaderList, joinedHeader } from '../exchange.ts';
import { messageOf } from '../text/message-of.ts';

export type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** `10.0.0.0/8`, or one address, without a zone. Throws an Error that names the text. */
export function parseCidr(text: string): Cidr {
  try {
    if (isIP(text.split('/', 1)[0] ?? '') === 0 || text.includes('%')) throw new Error('not an address');
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    throw new Error(`"${text}" is neither an IP address nor a CIDR such as 10.0.0.0/8`);
  }
}

/**
 * Maps IPv4 in IPv6 to IPv4; returns undefined if the text is not an address, and for `0x7f.1` or `010.0.0.1`, which
 * readers differ on.
 */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (isIP(text) === 0) return undefined;
  // `net` knows zones that ipaddr.js throws on, such as ::1%eth0.100: a zone is not part of the address.
  const [plain = ''] = text.split('%', 1);
  return ipaddr.isValid(plain) ? ipaddr.process(plain) : undefined;
}

export function inAnyCidr(address: ipaddr.IPv4 | ipaddr.IPv6, cidrs: readonly Cidr[]): boolean {
  return cidrs.some(([base, bits]) => base.kind() === address.kind() && address.match([base, bits] as never));
}

/** Some proxies write the port of the client's connection, too: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function withoutPort(hop: string): string {
  const [, v6, v4] = /^(?:\[([0-9a-fA-F:.]+)\](?::\d{1,5})?|([0-9.]+):\d{1,5})$/.exec(hop) ?? [];
  return v6 ?? v4 ?? hop;
}

export class ClientAddress {
  readonly #trusted: readonly Cidr[];

  /** Throws an Error that names the malformed entry of `--trusted-proxies`. */
  constructor(trustedProxies: readonly string[]) {
    try {
      this.#trusted = trustedProxies.map(parseCidr);
    } catch (error) {
      throw new Error(`--trusted-proxies: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Reports whether the connection comes from a trusted proxy. */
  trusts(peer: string): boolean {
    if (this.#trusted.length === 0) return false;
    const address = parseAddress(peer);
    return address !== undefined && inAnyCidr(address, this.#trusted);
  }

  /** Read from the right: the first address that is not a trusted proxy. */
  of(peer: string, headers: HeaderList): string {
    if (!this.trusts(peer)) return peer;
    const chain = joinedHeader(headers, 'x-forwarded-for')?.split(',') ?? [];
    let client = peer;
    for (const hop of chain.reverse()) {
      const address = parseAddress(withoutPort(hop.trim()));
      if (!address) return client;
      client = address.toString();
      if (!inAnyCidr(address, this.#trusted)) return client;
    }
    const real = parseAddress(joinedHeader(headers, 'x-real-ip')?.trim() ?? '');
    return chain.length === 0 && real ? real.toString() : client;
  }
}
