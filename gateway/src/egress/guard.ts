/**
 * The egress guard (docs/reference/gateway.md#egress, docs/decisions.md#egress-allow): plugins' connections reach
 * public addresses only, unless an operator opened it. It vets addresses, not names: see connector.ts for how a vetted
 * address stays the one used.
 */
import type ipaddr from 'ipaddr.js';
import { type Cidr, inAnyCidr, parseAddress, parseCidr } from '../headers/client-ip.ts';
import { messageOf } from '../text/message-of.ts';

/** Public by number, private by meaning: Azure's platform endpoint, Oracle's and Alibaba's metadata services. */
const METADATA = ['168.63.129.16', '192.0.0.192', '100.100.100.200'].map(parseCidr);

export interface EgressOptions {
  /** `GW_ALLOW_INTERNAL_EGRESS`: no guard at all. */
  readonly allowInternal: boolean;
  /** `--egress-allow`: CIDRs and addresses; host names, also as `*.example.org`. */
  readonly allow: readonly string[];
  /** Refuses every connection with this message, before a name is looked up. Default: connections are vetted. */
  readonly closed?: string;
}

export class EgressGuard {
  /** Reason for which all connections are refused; null: they are vetted. */
  readonly closed: string | null;
  readonly #allowInternal: boolean;
  readonly #cidrs: readonly Cidr[];
  readonly #hosts: ReadonlySet<string>;
  readonly #suffixes: readonly string[];

  /** Throws an Error that names an entry which is neither an address, a CIDR nor a host name. */
  constructor({ allowInternal, allow, closed }: EgressOptions) {
    this.closed = closed ?? null;
    this.#allowInternal = allowInternal;
    const numeric = allow.filter((entry) => entry.includes('/') || parseAddress(entry));
    const names = allow.filter((entry) => !numeric.includes(entry)).map((entry) => entry.toLowerCase());
    const bad = names.find((name) => !/^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?\.?$/.test(name));
    if (bad !== undefined) throw new Error(`--egress-allow: "${bad}" is neither a CIDR, an address nor a host name`);
    try {
      this.#cidrs = numeric.map(parseCidr);
    } catch (error) {
      throw new Error(`--egress-allow: ${messageOf(error)}`, { cause: error });
    }
    this.#hosts = new Set(names.filter((name) => !name.startsWith('*.')));
    this.#suffixes = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
  }

  /** Reports whether this address may be connected to for this host name (or literal). */
  permits(host: string, address: string): boolean {
    if (this.#allowInternal) return true;
    const parsed = parseAddress(address);
    if (!parsed) return false;
    return this.#permitsHost(host.toLowerCase()) || inAnyCidr(parsed, this.#cidrs) || isPublic(parsed);
  }

  /** Reports whether an entry names this host, or the address that it is, public ones too. */
  names(host: string): boolean {
    const address = parseAddress(host.replace(/^\[|\]$/g, ''));
    return address ? inAnyCidr(address, this.#cidrs) : this.#permitsHost(host.toLowerCase());
  }

  #permitsHost(host: string): boolean {
    return this.#hosts.has(host) || this.#suffixes.some((suffix) => host.endsWith(suffix));
  }
}

/** The addresses of IPv6 assigned for global unicast (RFC 4291, section 2.4). */
const GLOBAL_UNICAST = parseCidr('2000::/3');

/**
 * Global unicast; forms of IPv6 that embed an IPv4 address (NAT64, 6to4, Teredo, ISATAP, IPv4-compatible) count as not
 * public, whatever they embed.
 */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || inAnyCidr(address, METADATA)) return false;
  if (address.kind() === 'ipv4') return true;
  return inAnyCidr(address, [GLOBAL_UNICAST]) && !isIsatap(address.toByteArray());
}

/** The interface identifier `0:5efe`, with or without its universal bit (RFC 5214, section 6.1). */
function isIsatap(bytes: readonly number[]): boolean {
  return ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}
