/**
 * The health of an endpoint as a process has seen it: whether it can be asked, its latency, and the rest of its quota.
 */
import { type CircuitBreaker, type HeaderList, headerOf } from '../../../../kit.ts';

/** Milliseconds behind a 429 that does not say when to come back, in which others are asked first. */
const LIMITED = 5_000;
/** Milliseconds; an endpoint that says more is asked again then. */
const MOST_REST = 300_000;
/** Milliseconds after a failure in which others are asked first. */
const SHAKY = 5_000;
/** Most models that it rests for; past them, the oldest is asked for again. */
const MOST_MODELS = 64;
/** Share of the newest in the average of latency. */
const NEWEST = 0.3;
/** Milliseconds after which its reported quota is dropped: quotas of providers are by the minute. */
const QUOTA_AGE = 60_000;

/**
 * `shaky`: it has failed lately; `limited`: it has answered 429 for the model lately; `resting`: with a time to come back,
 * until which it is not asked; `broken`: its circuit breaker is open.
 */
export type EndpointState = 'free' | 'shaky' | 'limited' | 'resting' | 'broken';

interface Rest {
  readonly until: number;
  /** The endpoint has said so itself. */
  readonly isSaid: boolean;
}

export class EndpointHealth {
  readonly breaker: CircuitBreaker;
  readonly #now: () => number;
  /** When the rest ends, by model: providers limit each by itself. */
  readonly #rests = new Map<string, Rest>();
  #shakyUntil = Number.NEGATIVE_INFINITY;
  #latencyMs: number | null = null;
  #quota: { readonly left: number; readonly at: number } | null = null;

  constructor(breaker: CircuitBreaker, now: () => number = performance.now.bind(performance)) {
    this.breaker = breaker;
    this.#now = now;
  }

  state(model: string): EndpointState {
    if (this.breaker.refuses) return 'broken';
    const now = this.#now();
    const rest = this.#rests.get(model);
    if (rest !== undefined && now < rest.until) return rest.isSaid ? 'resting' : 'limited';
    return now < this.#shakyUntil ? 'shaky' : 'free';
  }

  /** Seconds until it can be asked for the model, at least 1. */
  retryAfter(model: string): number {
    if (this.breaker.refuses) return this.breaker.retryAfter();
    return Math.max(1, Math.ceil(((this.#rests.get(model)?.until ?? 0) - this.#now()) / 1000));
  }

  /** Records a 429; `forMs` is null if the answer does not say for how long. */
  limited(model: string, forMs: number | null): void {
    const now = this.#now();
    for (const [each, { until }] of this.#rests) if (until <= now) this.#rests.delete(each);
    this.#rests.delete(model);
    const [oldest] = this.#rests.keys();
    if (this.#rests.size >= MOST_MODELS && oldest !== undefined) this.#rests.delete(oldest);
    this.#rests.set(model, { until: now + Math.min(forMs ?? LIMITED, MOST_REST), isSaid: forMs !== null });
  }

  /** It has given no valid answer. */
  failed(): void {
    this.#shakyUntil = this.#now() + SHAKY;
  }

  /** It has answered within these milliseconds. */
  answered(ms: number): void {
    this.#shakyUntil = Number.NEGATIVE_INFINITY;
    this.#latencyMs = this.#latencyMs === null ? ms : this.#latencyMs + NEWEST * (ms - this.#latencyMs);
  }

  /** A decaying average; null before the first answer. */
  get latencyMs(): number | null {
    return this.#latencyMs;
  }

  /** Reads the rest of its quota from the headers of an answer. */
  recordQuota(headers: HeaderList): void {
    const left = quotaLeft(headers);
    if (left !== null) this.#quota = { left, at: this.#now() };
  }

  /** The remaining share of its quota, from 0 to 1; 1 if unknown. */
  get quotaLeft(): number {
    return this.#quota === null || this.#now() - this.#quota.at > QUOTA_AGE ? 1 : this.#quota.left;
  }
}

const KINDS = ['requests', 'tokens'];
const MESSAGES_KINDS = [...KINDS, 'input-tokens', 'output-tokens'];

/** Returns the smallest remaining share among the kinds that an answer names; null if it names none. */
function quotaLeft(headers: HeaderList): number | null {
  const shares = [
    ...KINDS.map((kind) => shareOf(headers, `x-ratelimit-remaining-${kind}`, `x-ratelimit-limit-${kind}`)),
    ...MESSAGES_KINDS.map((kind) =>
      shareOf(headers, `anthropic-ratelimit-${kind}-remaining`, `anthropic-ratelimit-${kind}-limit`),
    ),
  ].filter((share) => share !== null);
  return shares.length === 0 ? null : Math.min(...shares);
}

function shareOf(headers: HeaderList, remaining: string, limit: string): number | null {
  const [left, most] = [headerOf(headers, remaining), headerOf(headers, limit)].map(countOf);
  return typeof left !== 'number' || typeof most !== 'number' || most === 0 ? null : Math.min(1, left / most);
}

function countOf(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : null;
}
