/**
 * The policy of a named upstream: the part of it that is compiled. Its addresses are bound to it when it is served
 * (docs/upstreams.md).
 */

/** Source of the key of a request: requests with equal keys go to one address while the addresses stay the same. */
export type HashSource = { readonly header: string } | { readonly cookie: string } | 'client-address';

/** How the address of a request is chosen. */
export type Balance = 'least-requests' | 'round-robin' | { readonly hash: HashSource };

export interface Ejection {
  /** Failures in a row that take an address out. */
  readonly failures: number;
  /** Seconds for which it stays out before one request tries it again. */
  readonly cooldown: number;
  /** Share of healthy addresses, from 0 to 1: with fewer of them, but at least one, requests go to all addresses. */
  readonly panic: number;
}

export interface UpstreamPolicy {
  readonly balance: Balance;
  readonly ejection: Ejection;
}

export const DEFAULT_POLICY: UpstreamPolicy = {
  balance: 'least-requests',
  ejection: { failures: 5, cooldown: 10, panic: 0.3 },
};

/** Smallest and largest value of each number. */
export const EJECTION_LIMITS: Readonly<Record<keyof Ejection, readonly [least: number, most: number]>> = {
  failures: [1, 1000],
  cooldown: [0.1, 3600],
  panic: [0, 1],
};

/** Name of an upstream that has a policy. */
export const UPSTREAM_NAME = /^[a-z][a-z0-9-]{0,62}$/;
