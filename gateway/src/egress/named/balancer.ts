/** Choosing one of several addresses for a request (docs/upstreams.md#balancing). */
import type { Exchange } from '../../exchange.ts';

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
