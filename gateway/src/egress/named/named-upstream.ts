/** An upstream with several addresses, each with its own connections. */
import type { Exchange } from '../../exchange.ts';
import { type Problem, problem } from '../../problems.ts';
import type { AddressHealth } from '../health/address-health.ts';
import type { AddressSet } from './address-set.ts';
import type { DispatchTarget } from './dispatch-target.ts';
import type { UpstreamAddress } from './upstream-address.ts';

/** A server that an address stands for. */
interface AddressServer {
  readonly health: AddressHealth;
  /** Closes idle connections; those in use end with their requests. */
  close(): void;
}

export class NamedUpstream<Server extends AddressServer> implements DispatchTarget<Server> {
  readonly name: string;
  readonly #set: AddressSet;
  readonly #connect: (address: UpstreamAddress) => Server;
  readonly #open = new Map<UpstreamAddress, Server>();

  /** `connect`: opens the connections of an address. */
  constructor(set: AddressSet, connect: (address: UpstreamAddress) => Server) {
    this.name = set.name;
    this.#set = set;
    this.#connect = connect;
    set.onRemoved((address) => {
      this.#open.get(address)?.close();
      this.#open.delete(address);
    });
  }

  choose(exchange: Exchange, failed?: Server): Server | null {
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
