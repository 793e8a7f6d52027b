import type { Balancer, Candidate } from './balancer.ts';

/** Smooth weighted round robin: each address has exactly its share, and heavy ones do not come in runs. */
export class RoundRobin implements Balancer {
  choose<C extends Candidate>(candidates: readonly C[]): C {
    let chosen = candidates[0] as C;
    let total = 0;
    for (const each of candidates) {
      each.credit += each.weight;
      total += each.weight;
      if (each.credit > chosen.credit) chosen = each;
    }
    chosen.credit -= total;
    return chosen;
  }
}
