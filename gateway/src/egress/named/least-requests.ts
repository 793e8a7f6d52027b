import type { Balancer, Candidate } from './balancer.ts';

/**
 * Takes two different addresses at random, by weight, and of these the one with fewer requests for its weight ("the
 * power of two choices"); if they are equal, the first.
 */
export class LeastRequests implements Balancer {
  readonly #random: () => number;
  #known: readonly Candidate[] = [];
  /** Sum of the weights of the addresses before each, and of all at the end. */
  #sums: number[] = [0];

  constructor(random: () => number) {
    this.#random = random;
  }

  choose<C extends Candidate>(candidates: readonly C[]): C {
    if (candidates.length === 1) return candidates[0] as C;
    const sums = this.#sumsOf(candidates);
    const total = sums[candidates.length] as number;
    const firstAt = indexOf(sums, this.#random() * total);
    const first = candidates[firstAt] as C;
    // Skips the first one's part of the line on which each address takes as much as its weight.
    const rest = this.#random() * (total - first.weight);
    const second = candidates[indexOf(sums, rest < (sums[firstAt] as number) ? rest : rest + first.weight)] as C;
    return second.inFlight * first.weight < first.inFlight * second.weight ? second : first;
  }

  #sumsOf(candidates: readonly Candidate[]): readonly number[] {
    if (candidates === this.#known) return this.#sums;
    let sum = 0;
    this.#sums = [0, ...candidates.map(({ weight }) => (sum += weight))];
    this.#known = candidates;
    return this.#sums;
  }
}

/** Returns the last index whose sum is not above `at`. */
function indexOf(sums: readonly number[], at: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((sums[middle] as number) <= at) low = middle;
    else high = middle;
  }
  return low;
}
