import { AddressHealth } from '../health/address-health.ts';
import type { CircuitBreaker } from '../health/breaker.ts';
import type { Candidate } from './balancer.ts';
import { hashOf } from './hash-balancer.ts';

/** One of the addresses of a named upstream. */
export class UpstreamAddress extends AddressHealth implements Candidate {
  /** Scheme, host and port. */
  readonly url: string;
  weight: number;
  readonly hash: number;
  credit = 0;

  constructor(url: string, weight: number, breaker: CircuitBreaker) {
    super(breaker);
    this.url = url;
    this.weight = weight;
    this.hash = hashOf(url);
  }

  /** Nothing of the request was sent, so no client has caused it: it counts for all. */
  override unreachable(client: string): void {
    this.breaker.abandoned(client);
    this.breaker.failed();
  }
}
