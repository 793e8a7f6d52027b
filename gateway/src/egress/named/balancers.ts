/** The balancer of each policy. */
import type { Balance } from '../../artifact/upstream-policy.ts';
import type { Balancer } from './balancer.ts';
import { HashBalancer } from './hash-balancer.ts';
import { LeastRequests } from './least-requests.ts';
import { RoundRobin } from './round-robin.ts';

/** `random`: from 0 to below 1. */
export function balancerOf(balance: Balance, random: () => number = Math.random): Balancer {
  if (balance === 'least-requests') return new LeastRequests(random);
  if (balance === 'round-robin') return new RoundRobin();
  return new HashBalancer(balance.hash, new LeastRequests(random));
}
