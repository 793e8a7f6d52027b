/**
 * Whether a canary does worse than the others, by operation and in all, beside them in the same time
 * (docs/decisions.md#canary-evidence). Pure.
 */
import type { RolloutSpec } from '../../../api/rollout.ts';
import { type Answers, NO_ANSWERS, quantileMs, type Sample, slowerThan, total } from './sample.ts';
import { type Counted, chanceBeside, chanceOf, chanceTogether } from './significance.ts';

export interface AnalysisResult {
  /** `unknown`: no operation has had enough requests. */
  readonly verdict: 'good' | 'worse' | 'unknown';
  readonly message: string;
  /** Operations in use whose canary has had too few requests to show that they work. */
  readonly withoutEvidence: readonly string[];
  /** Operations that do worse; empty unless the verdict is `worse`. */
  readonly worse: readonly string[];
  /** Requests that the canary has answered without an error, by operation: failures are not evidence of success. */
  readonly requests: ReadonlyMap<string, number>;
}

type Analysis = RolloutSpec['canary']['analysis'];

/** Minimum number of bad answers for an abort, however unlikely they are. */
const LEAST_BAD = 5;
/** Probability that a canary as good as the others is aborted, for all operations and analyses together. */
const CHANCE = 0.001;
const MAX_NAMED = 3;
/**
 * Stable pods of whose answers clearly more than this percentage is bad fail themselves: there is nothing to compare
 * with.
 */
const FAILS_ITSELF = 50;

export function analyse({ canary: { analysis } }: RolloutSpec, canary: Sample, others: Sample): AnalysisResult {
  const operations = [...new Set([...others.keys(), ...canary.keys()])].sort().map((name) => ({
    name,
    its: canary.get(name) ?? NO_ANSWERS,
    theirs: others.get(name) ?? NO_ANSWERS,
  }));
  const used = operations.filter(({ its, theirs }) => its.requests + theirs.requests > 0);
  // One more comparison: all of them together.
  const chance = CHANCE / (used.length + 1);
  const withoutEvidence = used.filter(({ its }) => its.requests < analysis.minRequests).map(({ name }) => name);
  const requests = new Map(used.map(({ name, its }) => [name, its.requests - its.errors]));
  const faults = used.flatMap(({ name, its, theirs }) => {
    const message = faultOf(name, its, theirs, analysis, chance);
    return message === undefined ? [] : [{ name, message }];
  });
  const [first] = faults;
  const base = { withoutEvidence, requests };
  if (first) return { ...base, verdict: 'worse', message: first.message, worse: faults.map(({ name }) => name) };
  const together = faultOfAll(used, analysis, chance);
  if (together !== undefined) {
    const worse = used.filter(({ its }) => its.errors > 0).map(({ name }) => name);
    return { ...base, verdict: 'worse', message: together, worse };
  }
  const failing = used.filter(({ theirs }) => theyFail(theirs, analysis)).map(({ name }) => name);
  const beside =
    failing.length > 0 ? `; the other pods fail themselves at ${listed(failing)}: the limits alone count there` : '';
  const few = withoutEvidence.length > 0 ? `too few requests to judge ${listed(withoutEvidence)}` : undefined;
  if (withoutEvidence.length === used.length) {
    return { ...base, verdict: 'unknown', message: `${few ?? 'no requests so far'}${beside}`, worse: [] };
  }
  const good = `no operation performs worse than on the other pods, in ${total(canary).requests} requests`;
  return { ...base, verdict: 'good', message: `${good}${few === undefined ? '' : `; ${few}`}${beside}`, worse: [] };
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return more > 0 ? `${names.slice(0, MAX_NAMED).join(', ')} and ${more} more` : names.join(', ');
}

/**
 * Returns why an operation does worse than the stable one; undefined if it does not, or nobody can tell. Stable pods
 * that fail themselves are no measure: their answers are left out, and the limit alone counts.
 */
function faultOf(
  name: string,
  its: Answers,
  theirs: Answers,
  { maxErrorPercent, maxP99Ms }: Analysis,
  chance: number,
): string | undefined {
  const errors = besides(bad(its, its.errors), bad(theirs, theirs.errors));
  if (exceeds(errors, maxErrorPercent, chance)) {
    return `${name}: ${compared(errors, 'are 5xx')}: ${maxErrorPercent} %${errors.alone ? '' : ' more'} are allowed`;
  }
  if (maxP99Ms === undefined) return undefined;
  const p99 = quantileMs(its, 0.99);
  const slow = besides(bad(its, slowerThan(its, maxP99Ms)), bad(theirs, slowerThan(theirs, maxP99Ms)));
  if (!(p99 > maxP99Ms) || !exceeds(slow, 1, chance)) return undefined;
  const also = slow.alone ? ', the others are too slow themselves' : '';
  const took = Number.isFinite(p99) ? `${Math.round(p99)} ms` : 'above 10 s';
  return `${name}: its p99 is ${took}${also}: ${maxP99Ms} ms are allowed`;
}

interface Pair {
  readonly its: Counted;
  readonly theirs: Counted;
  /** The others fail themselves. */
  readonly alone: boolean;
}

function besides(its: Counted, theirs: Counted): Pair {
  const fail = theirs.bad >= LEAST_BAD && chanceOf(theirs, FAILS_ITSELF / 100) < CHANCE;
  return { its, theirs, alone: fail };
}

function theyFail(theirs: Answers, { maxP99Ms }: Analysis): boolean {
  const slow = maxP99Ms === undefined ? 0 : slowerThan(theirs, maxP99Ms);
  return [theirs.errors, slow].some((count) => besides(bad(theirs, 0), bad(theirs, count)).alone);
}

/** Finds a fault of many operations that each fail too little to count. */
function faultOfAll(
  used: readonly { readonly its: Answers; readonly theirs: Answers }[],
  { maxErrorPercent }: Analysis,
  chance: number,
): string | undefined {
  const pairs = used
    .filter(({ its, theirs }) => its.requests > 0 && theirs.requests > 0)
    .map(({ its, theirs }) => besides(bad(its, its.errors), bad(theirs, theirs.errors)))
    .filter(({ alone }) => !alone)
    .map(({ its, theirs }) => [its, theirs] as const);
  const requests = pairs.reduce((all, [its]) => all + its.requests, 0);
  const errors = pairs.reduce((all, [its]) => all + its.bad, 0);
  // Bad answers that the stable pods would have had for the same requests.
  const expected = pairs.reduce((all, [its, theirs]) => all + (its.requests * theirs.bad) / theirs.requests, 0);
  if (errors < LEAST_BAD || (100 * (errors - expected)) / requests <= maxErrorPercent) return undefined;
  if (chanceTogether(pairs) >= chance) return undefined;
  const its = `${share({ requests, bad: errors })} % of its ${requests} answers are 5xx`;
  return `${its}, ${share({ requests, bad: expected })} % would be with the others: ${maxErrorPercent} % more are allowed`;
}

function exceeds({ its, theirs, alone }: Pair, percent: number, chance: number): boolean {
  if (its.bad < LEAST_BAD || percentOf(its) - (alone ? 0 : percentOf(theirs)) <= percent) return false;
  // Operations that only the canary has had, or that all pods fail, are measured against the absolute limit.
  const isAbsolute = alone || theirs.requests === 0;
  return (isAbsolute ? chanceOf(its, percent / 100) : chanceBeside(its, theirs)) < chance;
}

function bad({ requests }: Answers, count: number): Counted {
  return { requests, bad: count };
}

function compared({ its, theirs, alone }: Pair, what: string): string {
  const shares = alone ? `, the others fail themselves (${share(theirs)} %)` : `, ${share(theirs)} % of the others'`;
  const others = theirs.requests === 0 ? ', the others had none' : shares;
  return `${share(its)} % of its ${its.requests} answers ${what}${others}`;
}

function percentOf({ requests, bad: count }: Counted): number {
  return requests === 0 ? 0 : (100 * count) / requests;
}

function share(counted: Counted): number {
  return Math.round(percentOf(counted) * 100) / 100;
}
