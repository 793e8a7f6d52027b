/** Choosing one of several addresses for a request (docs/upstreams.md#balancing). */
import type { Balance } from '../../artifact/upstream-policy.ts';
import type { Exchange } from '../../exchange.ts';
import { HashBalancer } from './hash-balancer.ts';
import { LeastRequests } from './least-requests.ts';
import { RoundRobin } from './round-robin.ts';

/** An address as balancers see it. */
export interface Candidate {
  /** From 1. */
  readonly weight: number;
  /** Requests under way. */
  readonly inFlight: number;
  /** Hash of its name. */
  readonly hash: number;
  /** Used by round robin: how much it is behind its share. */
  credit: number;
}

/** The parts of a request that choose its address. */
export type BalancedRequest = Pick<Exchange, 'headers' | 'clientIp'>;

export interface Balancer {
  /** `candidates`: at least one. */
  choose<C extends Candidate>(candidates: readonly C[], request: BalancedRequest): C;
}

/** `random`: from 0 to below 1. */
export function balancerOf(balance: Balance, random: () => number = Math.random): Balancer {
  if (balance === 'least-requests') return new LeastRequests(random);
  if (balance === 'round-robin') return new RoundRobin();
  return new HashBalancer(balance.hash, new LeastRequests(random));
}
