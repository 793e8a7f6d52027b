/** What pods' own metrics say of how they do, and whether a canary does worse than the others. Pure. */
import type { RolloutSpec } from '../../../api/rollout.ts';

/** What pods have answered; counts only grow while a pod lives. */
export interface Sample {
  readonly requests: number;
  /** Answers with 5xx. */
  readonly errors: number;
  /** Requests that took at most so many seconds, by that bound; the last is Infinity. */
  readonly buckets: ReadonlyMap<number, number>;
}

export interface Judgement {
  /** `unknown`: there were too few requests to say. */
  readonly verdict: 'good' | 'worse' | 'unknown';
  readonly message: string;
}

export const NOTHING: Sample = { requests: 0, errors: 0, buckets: new Map() };

const LINE = /^(gw_requests_total|gw_request_duration_seconds_bucket)\{(.*)\} ([0-9.e+]+)/;

/** Reads the text format of `gw serve`'s `/metrics`; what is not about requests is ignored. */
export function readSample(text: string): Sample {
  let requests = 0;
  let errors = 0;
  const buckets = new Map<number, number>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    const count = Number(value);
    if (name === undefined || !Number.isFinite(count)) continue;
    if (name === 'gw_requests_total') {
      requests += count;
      if (/(^|,)status="5/.test(labels)) errors += count;
    } else {
      const bound = /(^|,)le="([^"]+)"/.exec(labels)?.[2];
      const seconds = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
      if (!Number.isNaN(seconds)) buckets.set(seconds, (buckets.get(seconds) ?? 0) + count);
    }
  }
  return { requests, errors, buckets };
}

/** What came after `before`; all of it where the pod has begun anew. */
export function since(sample: Sample, before: Sample): Sample {
  if (sample.requests < before.requests) return sample;
  return {
    requests: sample.requests - before.requests,
    errors: Math.max(0, sample.errors - before.errors),
    buckets: new Map([...sample.buckets].map(([bound, count]) => [bound, count - (before.buckets.get(bound) ?? 0)])),
  };
}

export function sum(samples: readonly Sample[]): Sample {
  const buckets = new Map<number, number>();
  for (const sample of samples) {
    for (const [bound, count] of sample.buckets) buckets.set(bound, (buckets.get(bound) ?? 0) + count);
  }
  return {
    requests: samples.reduce((total, { requests }) => total + requests, 0),
    errors: samples.reduce((total, { errors }) => total + errors, 0),
    buckets,
  };
}

/** Milliseconds within which that share of the requests was answered, between bounds of buckets as Prometheus does. */
export function quantileMs({ buckets }: Sample, share: number): number {
  const bounds = [...buckets].toSorted(([a], [b]) => a - b);
  const rank = share * (bounds.at(-1)?.[1] ?? 0);
  let [from, below] = [0, 0];
  for (const [bound, count] of bounds) {
    if (count >= rank) {
      if (bound === Number.POSITIVE_INFINITY) return bound;
      return 1000 * (count === below ? bound : from + ((bound - from) * (rank - below)) / (count - below));
    }
    [from, below] = [bound, count];
  }
  return 0;
}

export function judge(spec: RolloutSpec, canary: Sample, others: Sample): Judgement {
  const { minRequests, maxErrorPercent, maxP99Ms } = spec.canary.analysis;
  if (canary.requests < minRequests) {
    return { verdict: 'unknown', message: `${canary.requests} requests so far, too few to judge` };
  }
  const [its, theirs] = [percent(canary), percent(others)];
  const errors = `${rounded(its)} % of its ${canary.requests} answers are 5xx, ${rounded(theirs)} % of the others'`;
  if (its - theirs > maxErrorPercent) {
    return { verdict: 'worse', message: `${errors}: ${maxErrorPercent} % more are allowed` };
  }
  if (maxP99Ms === undefined) return { verdict: 'good', message: errors };
  const p99 = quantileMs(canary, 0.99);
  const latency = `its p99 is ${Number.isFinite(p99) ? `${Math.round(p99)} ms` : 'above 10 s'}`;
  if (p99 > maxP99Ms) return { verdict: 'worse', message: `${latency}: ${maxP99Ms} ms are allowed` };
  return { verdict: 'good', message: `${errors}; ${latency}` };
}

function percent({ requests, errors }: Sample): number {
  return requests === 0 ? 0 : (100 * errors) / requests;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
