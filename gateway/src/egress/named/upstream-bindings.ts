/** Addresses that a process has for named upstreams, and the sets that follow them. */

import type { UpstreamPolicy } from '../../artifact/upstream-policy.ts';
import { type AddressEvents, AddressSet, type AddressState } from './address-set.ts';
import { type Bindings, requireBound } from './bindings.ts';

/** An address as the admin port shows it. */
interface AddressFigures {
  readonly url: string;
  readonly weight: number;
  readonly in_flight: number;
  /** Number of processes that see it in each state. */
  readonly states: Readonly<Record<AddressState, number>>;
}

export interface NamedUpstreamFigures {
  readonly name: string;
  readonly balance: UpstreamPolicy['balance'];
  readonly addresses: readonly AddressFigures[];
}

export class UpstreamBindings {
  readonly #events: AddressEvents;
  readonly #sets = new Set<AddressSet>();
  #current: Bindings;

  constructor(bindings: Bindings, events: AddressEvents) {
    this.#current = bindings;
    this.#events = events;
  }

  /** New addresses take effect at once; an upstream that they lack keeps its last ones. */
  use(bindings: Bindings): void {
    this.#current = bindings;
    for (const set of this.#sets) {
      const bound = bindings[set.name];
      if (bound !== undefined) set.update(bound);
    }
  }

  /** Throws UpstreamError if one of the upstreams has no addresses. */
  require(names: readonly string[]): void {
    requireBound(names, this.#current);
  }

  /** Opens an upstream that has addresses, which follows them until it is closed. */
  open(name: string, policy: UpstreamPolicy): AddressSet {
    const set = new AddressSet({ name, policy }, this.#current[name] ?? [], this.#events);
    this.#sets.add(set);
    return set;
  }

  close(set: AddressSet): void {
    this.#sets.delete(set);
  }

  /** Requests under way by the name of their upstream. */
  get inFlight(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const { name, inFlight } of this.#sets) sums.set(name, (sums.get(name) ?? 0) + inFlight);
    return sums;
  }

  /** The state of each address as the artifact sees it that was loaded last. */
  get figures(): readonly NamedUpstreamFigures[] {
    const newest = new Map([...this.#sets].map((set) => [set.name, set]));
    return [...newest.values()].map((set) => ({
      name: set.name,
      balance: set.policy.balance,
      addresses: set.addresses.map((address) => ({
        url: address.url,
        weight: address.weight,
        in_flight: address.inFlight,
        states: { healthy: 0, ejected: 0, probing: 0, [set.stateOf(address)]: 1 },
      })),
    }));
  }
}

/** Adds up the figures of several processes, which have the same upstreams and addresses. */
export function sumOfFigures(processes: readonly (readonly NamedUpstreamFigures[])[]): readonly NamedUpstreamFigures[] {
  const [first = [], ...others] = processes;
  return first.map((upstream) => ({
    ...upstream,
    addresses: upstream.addresses.map((address) => {
      const same = others.flatMap((each) => addressIn(each, upstream.name, address.url));
      return same.reduce(added, address);
    }),
  }));
}

function addressIn(figures: readonly NamedUpstreamFigures[], name: string, url: string): readonly AddressFigures[] {
  return (figures.find((each) => each.name === name)?.addresses ?? []).filter((each) => each.url === url);
}

function added(sum: AddressFigures, { in_flight, states }: AddressFigures): AddressFigures {
  return {
    ...sum,
    in_flight: sum.in_flight + in_flight,
    states: {
      healthy: sum.states.healthy + states.healthy,
      ejected: sum.states.ejected + states.ejected,
      probing: sum.states.probing + states.probing,
    },
  };
}
