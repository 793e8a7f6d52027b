/** Counts of the answers of pods, by operation, from their metrics. Pure. */

/** Counts of one operation, which only grow while a pod lives. */
export interface Answers {
  readonly requests: number;
  /** Answers with 5xx. */
  readonly errors: number;
  /** Requests by upper bound of their duration in seconds; the last bound is Infinity. */
  readonly buckets: ReadonlyMap<number, number>;
}

/** Counts by operation: `GET /books/{id}`. */
export type Sample = ReadonlyMap<string, Answers>;

export const NO_ANSWERS: Answers = { requests: 0, errors: 0, buckets: new Map() };
export const NOTHING: Sample = new Map();

const LINE = /^(gw_requests_total|gw_request_duration_seconds_bucket)\{(.*)\} ([0-9.e+]+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format of `gw serve`'s `/metrics`; ignores metrics that are not about requests of operations. */
export function readSample(text: string): Sample {
  const read = new Map<string, { requests: number; errors: number; buckets: Map<number, number> }>();
  for (const line of text.split('\n')) {
    const [, name, text_, value] = LINE.exec(line) ?? [];
    const count = Number(value);
    if (name === undefined || !Number.isFinite(count)) continue;
    const labels = new Map([...(text_ ?? '').matchAll(LABEL)].map(([, key = '', of = '']) => [key, unescaped(of)]));
    // Requests without an operation do not count for a revision.
    if (labels.get('path') === 'unmatched') continue;
    const operation = `${labels.get('method') ?? ''} ${labels.get('path') ?? ''}`.trim();
    let answers = read.get(operation);
    if (!answers) {
      answers = { requests: 0, errors: 0, buckets: new Map() };
      read.set(operation, answers);
    }
    if (name === 'gw_requests_total') {
      answers.requests += count;
      if (labels.get('status')?.startsWith('5')) answers.errors += count;
    } else {
      const bound = labels.get('le');
      const seconds = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound ?? Number.NaN);
      if (!Number.isNaN(seconds)) answers.buckets.set(seconds, (answers.buckets.get(seconds) ?? 0) + count);
    }
  }
  return read;
}

function unescaped(value: string): string {
  return value.replaceAll(/\\(.)/g, (_, each: string) => (each === 'n' ? '\n' : each));
}

/** Returns the counts after `before`; all counts if the pod has restarted. */
export function since(sample: Sample, before: Sample): Sample {
  if (total(sample).requests < total(before).requests) return sample;
  return new Map(
    [...sample].map(([operation, now]): [string, Answers] => {
      const then = before.get(operation) ?? NO_ANSWERS;
      const answers = {
        requests: Math.max(0, now.requests - then.requests),
        errors: Math.max(0, now.errors - then.errors),
        buckets: new Map([...now.buckets].map(([bound, count]) => [bound, count - (then.buckets.get(bound) ?? 0)])),
      };
      return [operation, answers];
    }),
  );
}

export function sum(samples: readonly Sample[]): Sample {
  const all = new Map<string, Answers>();
  for (const [operation, answers] of samples.flatMap((sample) => [...sample])) {
    all.set(operation, both(all.get(operation) ?? NO_ANSWERS, answers));
  }
  return all;
}

/** Returns the counts of all operations together. */
export function total(sample: Sample): Answers {
  return [...sample.values()].reduce(both, NO_ANSWERS);
}

function both(a: Answers, b: Answers): Answers {
  const buckets = new Map(a.buckets);
  for (const [bound, count] of b.buckets) buckets.set(bound, (buckets.get(bound) ?? 0) + count);
  return { requests: a.requests + b.requests, errors: a.errors + b.errors, buckets };
}

/** Milliseconds within which that share of the requests was answered, between bounds of buckets as Prometheus does. */
export function quantileMs(answers: Answers, share: number): number {
  const bounds = boundsOf(answers);
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

/** Requests that certainly took longer, by the nearest bound above. */
export function slowerThan(answers: Answers, ms: number): number {
  const bounds = boundsOf(answers);
  const within = bounds.find(([bound]) => 1000 * bound >= ms)?.[1] ?? 0;
  return Math.max(0, (bounds.at(-1)?.[1] ?? 0) - within);
}

/** Returns sorted bounds, since pods may list them in any order. */
function boundsOf({ buckets }: Answers): readonly (readonly [seconds: number, count: number])[] {
  return [...buckets].toSorted(([a], [b]) => a - b);
}
