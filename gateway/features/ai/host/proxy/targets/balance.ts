/** Which endpoint of a target is asked next. */

import type { JsonObject } from '../../../../kit.ts';
import type { Endpoint } from './endpoint.ts';
import type { EndpointState } from './endpoint-health.ts';

const BALANCES = ['weight', 'latency', 'quota', 'cost'] as const;
export type BalanceName = (typeof BALANCES)[number];

/** Share of its weight that an endpoint keeps once its quota is used up: it may have more than it said. */
const LEAST_QUOTA = 0.01;
/** Least latency that counts, in milliseconds: faster answers are equal. */
const LEAST_LATENCY = 1;

export interface Choice {
  readonly endpoint: Endpoint;
  /** For the trace. */
  readonly why: string;
}

export class Balance {
  readonly #name: BalanceName;
  readonly #endpoints: readonly Endpoint[];
  /** How far each is behind its share; all of them together are at 0. */
  readonly #behind: Map<Endpoint, number>;

  /** Throws if the config cannot be used. */
  constructor(config: JsonObject, endpoints: readonly Endpoint[]) {
    this.#name = BALANCES.find((each) => each === config['balance']) ?? 'weight';
    this.#endpoints = endpoints;
    this.#behind = new Map(endpoints.map((each) => [each, 0]));
    if (this.#name === 'cost' && endpoints.some(({ price }) => price === null)) {
      throw new Error('balance: cost needs a price of each of the endpoints');
    }
  }

  /**
   * Returns the next endpoint to ask, except those in `tried`; null if none remains. Those with recent failures come
   * last.
   */
  next(model: string, tried: ReadonlySet<Endpoint>): Choice | null {
    const states = this.#endpoints.map((endpoint) => [endpoint, this.stateOf(endpoint, model)] as const);
    const left = states.filter(([endpoint, state]) => isAsked(state) && !tried.has(endpoint));
    const free = left.filter(([, state]) => state === 'free');
    const candidates = (free.length > 0 ? free : left).map(([endpoint]) => endpoint);
    const endpoint = this.#turn(this.#name === 'cost' ? cheapest(candidates) : candidates);
    return endpoint && { endpoint, why: this.#why(endpoint, candidates.length, states, tried) };
  }

  /** Reports whether `next` would have one. */
  hasNext(model: string, tried: ReadonlySet<Endpoint>): boolean {
    return this.#endpoints.some((each) => !tried.has(each) && isAsked(this.stateOf(each, model)));
  }

  /** A target's only endpoint does not rest: its answer is the answer. */
  stateOf(endpoint: Endpoint, model: string): EndpointState {
    const state = endpoint.health.state(model);
    return state === 'resting' && this.#endpoints.length === 1 ? 'free' : state;
  }

  /** Chooses in turns by weight: the endpoint furthest behind its share is next. */
  #turn(candidates: readonly Endpoint[]): Endpoint | null {
    const weights = this.#weights(candidates);
    const total = weights.reduce((sum, each) => sum + each, 0);
    let chosen: Endpoint | null = null;
    let most = Number.NEGATIVE_INFINITY;
    candidates.forEach((endpoint, i) => {
      const behind = (this.#behind.get(endpoint) ?? 0) + (weights[i] ?? 0) / total;
      this.#behind.set(endpoint, behind);
      if (behind > most) [chosen, most] = [endpoint, behind];
    });
    if (chosen !== null) this.#behind.set(chosen, most - 1);
    return chosen;
  }

  #weights(candidates: readonly Endpoint[]): readonly number[] {
    if (this.#name === 'quota') {
      return candidates.map(({ weight, health }) => weight * Math.max(LEAST_QUOTA, health.quotaLeft));
    }
    if (this.#name !== 'latency') return candidates.map(({ weight }) => weight);
    const known = candidates.map(({ health }) => health.latencyMs).filter((each) => each !== null);
    // An endpoint without an answer so far counts as good as the best.
    const best = known.length === 0 ? LEAST_LATENCY : Math.min(...known);
    return candidates.map(({ weight, health }) => weight / Math.max(LEAST_LATENCY, health.latencyMs ?? best));
  }

  #why(
    endpoint: Endpoint,
    candidates: number,
    states: readonly (readonly [Endpoint, EndpointState])[],
    tried: ReadonlySet<Endpoint>,
  ): string {
    if (states.length === 1) return 'the only endpoint';
    const others = states.flatMap(([each, state], i) => {
      if (each === endpoint || (state === 'free' && !tried.has(each))) return [];
      return [`endpoint ${i + 1} ${tried.has(each) ? 'asked before' : WHY_NOT[state]}`];
    });
    const place = this.#endpoints.indexOf(endpoint) + 1;
    const by = candidates === 1 ? 'the one that is left' : `by ${this.#name} of ${candidates}`;
    return [`endpoint ${place} of ${states.length}, ${by}`, ...others].join('; ');
  }
}

function isAsked(state: EndpointState): boolean {
  return state !== 'resting' && state !== 'broken';
}

const WHY_NOT: Readonly<Record<EndpointState, string>> = {
  free: 'free',
  shaky: 'failed lately',
  limited: 'answered 429 lately',
  resting: 'rests after 429',
  broken: 'has its circuit breaker open',
};

function cheapest(candidates: readonly Endpoint[]): readonly Endpoint[] {
  const least = Math.min(...candidates.map(({ price }) => price ?? Number.POSITIVE_INFINITY));
  return candidates.filter(({ price }) => price === least);
}
