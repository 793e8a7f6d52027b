/** An upstream with several addresses, each with its own connections. */
import type { Exchange } from '../../exchange.ts';
import { type Problem, problem } from '../../problems.ts';
import type { DispatchTarget, HttpUpstream } from '../upstream.ts';
import type { AddressSet } from './address-set.ts';
import type { UpstreamAddress } from './upstream-address.ts';

export class NamedUpstream implements DispatchTarget {
  readonly name: string;
  readonly #set: AddressSet;
  readonly #connect: (address: UpstreamAddress) => HttpUpstream;
  readonly #open = new Map<UpstreamAddress, HttpUpstream>();

  /** `connect`: opens the connections of an address. */
  constructor(set: AddressSet, connect: (address: UpstreamAddress) => HttpUpstream) {
    this.name = set.name;
    this.#set = set;
    this.#connect = connect;
    set.onRemoved((address) => {
      this.#open.get(address)?.close();
      this.#open.delete(address);
    });
  }

  choose(exchange: Exchange, failed?: HttpUpstream): HttpUpstream | null {
    const address = this.#set.choose(exchange, failed?.health ?? null);
    if (address === null) return null;
    let upstream = this.#open.get(address);
    if (upstream === undefined) {
      upstream = this.#connect(address);
      this.#open.set(address, upstream);
    }
    return upstream;
  }

  unavailable({ clientIp }: Exchange): Problem {
    return problem('upstream-unavailable', `There is no healthy address of upstream "${this.name}".`, {
      headers: ['retry-after', String(this.#set.retryAfter(clientIp))],
    });
  }

  /** Closes idle connections; those in use end with their requests. */
  close(): void {
    for (const upstream of this.#open.values()) upstream.close();
  }
}
