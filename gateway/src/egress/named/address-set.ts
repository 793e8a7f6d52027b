/**
 * The addresses of a named upstream and their circuits (docs/upstreams.md#ejection). An address whose circuit is open
 * gets no requests; one request tries it again after the cool-down.
 */
import type { UpstreamPolicy } from '../../artifact/upstream-policy.ts';
import type { AddressHealth } from '../health/address-health.ts';
import { CircuitBreaker } from '../health/breaker.ts';
import type { BalancedRequest, Balancer } from './balancer.ts';
import { balancerOf } from './balancers.ts';
import type { BoundAddress } from './bindings.ts';
import { UpstreamAddress } from './upstream-address.ts';

/** `probing`: a request tries an ejected address, or may. */
export type AddressState = 'healthy' | 'ejected' | 'probing';

/** Notified of changes of a set. */
export interface AddressEvents {
  ejected(upstream: string, address: string): void;
  restored(upstream: string, address: string): void;
}

export class AddressSet {
  readonly name: string;
  readonly policy: UpstreamPolicy;
  readonly #balancer: Balancer;
  readonly #events: AddressEvents;
  readonly #now: () => number;
  readonly #removed = new Set<(address: UpstreamAddress) => void>();
  #addresses: readonly UpstreamAddress[] = [];
  /** Removed addresses with requests under way. */
  #leaving: readonly UpstreamAddress[] = [];
  /** Addresses whose circuit is not closed. */
  #tripped = 0;

  constructor(
    { name, policy }: { readonly name: string; readonly policy: UpstreamPolicy },
    bound: readonly BoundAddress[],
    events: AddressEvents,
    now: () => number = performance.now.bind(performance),
  ) {
    this.name = name;
    this.policy = policy;
    this.#balancer = balancerOf(policy.balance);
    this.#events = events;
    this.#now = now;
    this.update(bound);
  }

  get addresses(): readonly UpstreamAddress[] {
    return this.#addresses;
  }

  /** Requests under way, those to removed addresses included. */
  get inFlight(): number {
    return [...this.#addresses, ...this.#leaving].reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  /** Replaces the addresses; those that stay keep their circuits and connections. */
  update(bound: readonly BoundAddress[]): void {
    const before = new Map(this.#addresses.map((each) => [each.url, each]));
    this.#addresses = bound.map(({ url, weight }) => {
      const kept = before.get(url);
      before.delete(url);
      if (kept !== undefined) kept.weight = weight;
      return kept ?? this.#addressOf(url, weight);
    });
    this.#leaving = [...this.#leaving, ...before.values()].filter(({ inFlight }) => inFlight > 0);
    this.#recount();
    for (const removed of before.values()) for (const listener of this.#removed) listener(removed);
  }

  /** Calls back with each address that is removed. */
  onRemoved(listener: (address: UpstreamAddress) => void): void {
    this.#removed.add(listener);
  }

  /**
   * Returns the address for a request, which its circuit has admitted: `succeeded`, `failed` or `abandoned` must follow.
   * Null if no circuit admits it. `failed`: an address that could not be reached for this request.
   */
  choose(request: BalancedRequest, failed: AddressHealth | null = null): UpstreamAddress | null {
    if (this.#tripped === 0 && failed === null) return this.#admitted(this.#addresses, request, false);
    const healthy = this.#addresses.filter((each) => each !== failed && !each.breaker.refuses);
    const isPanic = failed === null && this.#isPanic(healthy.length);
    return this.#admitted(isPanic ? this.#addresses : healthy, request, isPanic);
  }

  /** So few addresses are healthy that requests of all would bring them down, too. */
  #isPanic(healthy: number): boolean {
    return healthy > 0 && healthy < this.policy.ejection.panic * this.#addresses.length;
  }

  #admitted(among: readonly UpstreamAddress[], request: BalancedRequest, isPanic: boolean): UpstreamAddress | null {
    let candidates = among;
    while (candidates.length > 0) {
      const chosen = this.#balancer.choose(candidates, request);
      const { breaker } = chosen;
      if (breaker.admits(request.clientIp)) return chosen;
      if (isPanic && !breaker.refusesClient(request.clientIp)) return chosen;
      candidates = candidates.filter((each) => each !== chosen);
    }
    return null;
  }

  /** Seconds until one of the addresses may be tried again, at least 1; for `Retry-After`. */
  retryAfter(client: string): number {
    return Math.min(...this.#addresses.map(({ breaker }) => breaker.retryAfter(client)));
  }

  stateOf({ breaker }: UpstreamAddress): AddressState {
    if (!breaker.isOpen) return 'healthy';
    return breaker.leftMs > 0 ? 'ejected' : 'probing';
  }

  #addressOf(url: string, weight: number): UpstreamAddress {
    const { failures, cooldown } = this.policy.ejection;
    const changed = (event: keyof AddressEvents) => () => {
      this.#recount();
      if (this.#addresses.includes(address)) this.#events[event](this.name, url);
    };
    const options = { failures, cooldownMs: cooldown * 1000, opened: changed('ejected'), closed: changed('restored') };
    const address = new UpstreamAddress(url, weight, new CircuitBreaker(options, this.#now));
    return address;
  }

  #recount(): void {
    this.#tripped = this.#addresses.filter(({ breaker }) => breaker.isOpen).length;
  }
}
