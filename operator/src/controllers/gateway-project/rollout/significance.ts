/** Whether counts can be chance. Exact for small counts, since a canary has few requests. Pure. */

/** Number of bad answers (5xx, or too slow) of `requests`. */
export interface Counted {
  readonly requests: number;
  readonly bad: number;
}

/** Ratio to the first term below which terms of a sum add nothing. */
const NEGLIGIBLE = 1e-18;

/** Computes Stirling's series, whose first terms are exact to 1e-9 from 10 on. */
function logFactorial(n: number): number {
  if (n < 10) {
    let product = 1;
    for (let i = 2; i <= n; i++) product *= i;
    return Math.log(product);
  }
  return n * Math.log(n) - n + Math.log(2 * Math.PI * n) / 2 + 1 / (12 * n) - 1 / (360 * n ** 3);
}

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

/** Sums terms that fall from the most likely one on. */
function upperSum(from: number, to: number, logTerm: (k: number) => number): number {
  let [sum, last] = [0, 0];
  for (let k = from; k <= to; k++) {
    const term = Math.exp(logTerm(k));
    sum += term;
    if (term < last && term < NEGLIGIBLE + sum * 1e-12) break;
    last = term;
  }
  return Math.min(1, sum);
}

/**
 * Returns the probability of this many bad answers, or more, if both are equally good: Fisher's exact test, one-sided.
 */
export function chanceBeside(its: Counted, others: Counted): number {
  const [n, m] = [its.requests, others.requests];
  const bad = its.bad + others.bad;
  const all = logChoose(n + m, bad);
  return upperSum(its.bad, Math.min(n, bad), (k) => logChoose(n, k) + logChoose(m, bad - k) - all);
}

/** Returns the probability of this many bad answers, or more, if `share` of the requests is expected to be bad. */
export function chanceOf({ requests, bad }: Counted, share: number): number {
  if (share <= 0) return bad > 0 ? 0 : 1;
  if (share >= 1) return 1;
  return upperSum(
    bad,
    requests,
    (k) => logChoose(requests, k) + k * Math.log(share) + (requests - k) * Math.log(1 - share),
  );
}

/**
 * As `chanceBeside`, for many kinds of requests together: each is compared with its own (Mantel and Haenszel), so that
 * another mix of them does not count as a fault.
 */
export function chanceTogether(pairs: readonly (readonly [its: Counted, others: Counted])[]): number {
  let [excess, variance] = [0, 0];
  for (const [its, others] of pairs) {
    const all = its.requests + others.requests;
    if (its.requests === 0 || others.requests === 0 || all < 2) continue;
    const bad = its.bad + others.bad;
    excess += its.bad - (its.requests * bad) / all;
    variance += (its.requests * others.requests * bad * (all - bad)) / (all * all * (all - 1));
  }
  // Half of one less, since counts are whole (Yates).
  return variance === 0 ? 1 : upperTail((excess - 1 / 2) / Math.sqrt(variance));
}

/** Returns the upper tail of the normal distribution (Abramowitz and Stegun, 7.1.26). */
function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z);
  const x = z / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return (series * Math.exp(-x * x)) / 2;
}
