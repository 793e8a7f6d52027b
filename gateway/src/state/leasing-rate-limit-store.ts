/**
 * A worker's side of quotas that it shares with others: takes from leases, and asks its parent if it has none
 * (docs/decisions.md#quota-leases). So most requests under load cost no message.
 */
import { NOBODY, type OwnerPath } from '../shares/owner-path.ts';
import { SharedMap } from '../shares/shared-map.ts';
import {
  grantedOf,
  LEASE_MS,
  type LeaseHolder,
  type LeaseSettlement,
  leasesQuota,
  type QuotaAnswer,
  type QuotaRequest,
} from './quota-lease.ts';
import { grainOf } from './rate-limit-bucket.ts';
import type { RateLimitResult, RateLimitStore } from './rate-limit-store.ts';

/** The parent, by messages. */
export interface QuotaParent {
  takeRateLimit(request: QuotaRequest): Promise<QuotaAnswer>;
  /** Messages keep their order. */
  settleLeases(settled: readonly LeaseSettlement[]): void;
}

export interface LeasingOptions {
  readonly parent: QuotaParent;
  /** Workers that share the quotas. */
  readonly workers: number;
  /** Milliseconds, never going back. Default: the monotonic clock. */
  readonly now?: () => number;
}

/** Quotas of which the worker remembers leases and refusals. Any other costs its requests a message. */
const MOST_QUOTAS = 4_096;
/** Milliseconds over which requests are counted, to know how many to expect. */
const SLOT_MS = 25;
/** Fewer requests in a slot are counted one by one. */
const LEAST_EXPECTED = 8;
const MOST_EXPECTED = 2_000;
/** Milliseconds between looks for leases that are no longer used. */
const SWEEP_MS = 50;

interface Lease {
  readonly id: number;
  readonly quota: Quota;
  /** Permits that are left. */
  left: number;
  readonly until: number;
  /** Permits that were left to all when it was made. */
  readonly remaining: number;
  /** First and last time, and number, of uses within half a grain. */
  readonly used: [first: number, last: number, count: number][];
  /** It was used since the last sweep. */
  isActive: boolean;
}

interface Waiting {
  resolve(result: RateLimitResult | Promise<RateLimitResult>): void;
  reject(error: unknown): void;
}

/** A bucket with its quota, as this worker knows it. */
class Quota {
  readonly bucket: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly owner: OwnerPath;
  readonly isLeased: boolean;
  lease: Lease | null = null;
  /** Requests that need an answer of the parent. */
  readonly waiting: Waiting[] = [];
  /** The parent is asked: others wait for its answer. */
  isAsking = false;
  /** Until then no request can be allowed. */
  refusedUntil = 0;
  refusal: RateLimitResult | null = null;
  #slot = 0;
  #inSlot = 0;
  #before = 0;

  constructor(bucket: string, quota: number, windowSeconds: number, owner: OwnerPath, isLeased: boolean) {
    this.bucket = bucket;
    this.quota = quota;
    this.windowSeconds = windowSeconds;
    this.owner = owner;
    this.isLeased = isLeased;
  }

  count(now: number): void {
    const slot = Math.floor(now / SLOT_MS);
    if (slot !== this.#slot) {
      this.#before = slot === this.#slot + 1 ? this.#inSlot : 0;
      this.#inSlot = 0;
      this.#slot = slot;
    }
    this.#inSlot++;
  }

  /** Requests that will come soon, if they come as they did; 0: too few to expect any. */
  get expected(): number {
    const expected = Math.max(this.#inSlot, this.#before);
    return expected < LEAST_EXPECTED ? 0 : Math.min(expected, MOST_EXPECTED);
  }
}

export class LeasingRateLimitStore implements RateLimitStore, LeaseHolder {
  readonly #parent: QuotaParent;
  readonly #workers: number;
  readonly #now: () => number;
  readonly #quotas = new SharedMap<Quota>({
    most: MOST_QUOTAS,
    mayGo: ({ isAsking }) => !isAsking,
    gone: (_, { lease }) => lease !== null && this.#giveBack([lease]),
  });
  readonly #leases = new Map<number, Lease>();
  #sweeper: NodeJS.Timeout | null = null;

  constructor({ parent, workers, now = () => performance.now() }: LeasingOptions) {
    this.#parent = parent;
    this.#workers = workers;
    this.#now = now;
  }

  take(
    bucket: string,
    limit: number,
    windowSeconds: number,
    owner: OwnerPath = NOBODY,
  ): RateLimitResult | Promise<RateLimitResult> {
    const now = this.#now();
    const quota = this.#quotaOf(bucket, limit, windowSeconds, owner);
    const refusal = refusalOf(quota, now);
    if (refusal !== null) return refusal;
    if (!quota.isLeased) return this.#ask(quota, 1, 0).then(resultOf);
    quota.count(now);
    if (!quota.isAsking && isUsable(quota.lease, now)) return use(quota.lease, now);
    return new Promise((resolve, reject) => {
      quota.waiting.push({ resolve, reject });
      if (!quota.isAsking) void this.#serve(quota);
    });
  }

  recallLease(id: number): Promise<LeaseSettlement | null> {
    // The answer that brings the lease may have come just before.
    return new Promise((resolve) => {
      setImmediate(() => {
        const lease = this.#leases.get(id);
        resolve(lease === undefined ? null : this.#end(lease, this.#now()));
      });
    });
  }

  /** Gives all leases back. */
  close(): void {
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    this.#sweeper = null;
    this.#giveBack([...this.#leases.values()]);
  }

  #quotaOf(bucket: string, limit: number, windowSeconds: number, owner: OwnerPath): Quota {
    const key = `${limit} ${windowSeconds} ${bucket}`;
    const known = this.#quotas.use(key);
    if (known !== undefined) return known;
    const made = new Quota(bucket, limit, windowSeconds, owner, leasesQuota(limit, this.#workers));
    // A quota that is not remembered could not give its lease back.
    return this.#quotas.set(key, made, owner) ? made : new Quota(bucket, limit, windowSeconds, owner, false);
  }

  /** Answers all that wait: out of a lease, or all at once by the parent. */
  async #serve(quota: Quota): Promise<void> {
    quota.isAsking = true;
    for (;;) {
      const now = this.#now();
      let served = 0;
      while (served < quota.waiting.length && isUsable(quota.lease, now)) {
        quota.waiting[served++]?.resolve(use(quota.lease, now));
      }
      const asking = quota.waiting.splice(0).slice(served);
      if (asking.length === 0) break;
      const refusal = refusalOf(quota, now);
      if (refusal !== null) for (const { resolve } of asking) resolve(refusal);
      else await this.#askFor(quota, asking);
    }
    quota.isAsking = false;
  }

  async #askFor(quota: Quota, asking: readonly Waiting[]): Promise<void> {
    try {
      const answer = await this.#ask(quota, asking.length, quota.expected);
      const granted = grantedOf(answer);
      const result = resultOf(answer);
      // Permits of the lease come after these requests.
      const left = answer.allowed ? answer.remaining + (answer.lease?.permits ?? 0) : 0;
      for (const [i, { resolve }] of asking.entries()) {
        const isGranted = i < granted;
        resolve(isGranted ? { ...result, allowed: true, remaining: left + granted - 1 - i, retryAfter: 0 } : result);
      }
    } catch (error) {
      for (const { reject } of asking) reject(error);
    }
  }

  async #ask(quota: Quota, count: number, expected: number): Promise<QuotaAnswer> {
    const { bucket, quota: limit, windowSeconds, owner, lease: ended } = quota;
    const now = this.#now();
    const answer = await this.#parent.takeRateLimit({
      ...{ bucket, quota: limit, windowSeconds, owner },
      ...(count > 1 ? { count } : {}),
      ...(expected > 0 ? { expected } : {}),
      ...(ended === null ? {} : { settled: [this.#end(ended, now)] }),
    });
    // Times are counted from before the question: the parent's are later.
    if (answer.refusedMs !== undefined) {
      quota.refusal = resultOf(answer);
      quota.refusedUntil = now + answer.refusedMs;
    }
    if (answer.lease !== undefined) this.#begin(quota, answer.lease, answer.remaining, now + LEASE_MS);
    return answer;
  }

  #begin(quota: Quota, { id, permits }: NonNullable<QuotaAnswer['lease']>, remaining: number, until: number): void {
    const lease: Lease = { id, quota, left: permits, until, remaining, used: [], isActive: true };
    quota.lease = lease;
    this.#leases.set(id, lease);
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  /** Gives leases back that are no longer used. */
  #sweep(): void {
    const now = this.#now();
    const unused: Lease[] = [];
    for (const lease of this.#leases.values()) {
      if (!lease.isActive || now >= lease.until) unused.push(lease);
      lease.isActive = false;
    }
    this.#giveBack(unused);
    if (this.#leases.size > 0 || this.#sweeper === null) return;
    clearInterval(this.#sweeper);
    this.#sweeper = null;
  }

  #giveBack(leases: readonly Lease[]): void {
    const now = this.#now();
    if (leases.length > 0) this.#parent.settleLeases(leases.map((lease) => this.#end(lease, now)));
  }

  #end(lease: Lease, now: number): LeaseSettlement {
    this.#leases.delete(lease.id);
    if (lease.quota.lease === lease) lease.quota.lease = null;
    return { id: lease.id, used: lease.used.map(([first, last, count]) => [now - first, now - last, count]) };
  }
}

function isUsable(lease: Lease | null, now: number): lease is Lease {
  return lease !== null && lease.left > 0 && now < lease.until;
}

/** Returns the refusal of the parent that still holds, or null. */
function refusalOf(quota: Quota, now: number): RateLimitResult | null {
  if (quota.refusal === null) return null;
  if (now < quota.refusedUntil) return { ...quota.refusal, retryAfter: (quota.refusedUntil - now) / 1000 };
  quota.refusal = null;
  return null;
}

function resultOf({ granted: _, lease: _lease, refusedMs: _refused, ...result }: QuotaAnswer): RateLimitResult {
  return result;
}

function use(lease: Lease, now: number): RateLimitResult {
  const { quota, used } = lease;
  const windowMs = quota.windowSeconds * 1000;
  const grain = grainOf(quota.quota, windowMs);
  const latest = used.at(-1);
  if (latest !== undefined && now - latest[0] <= grain / 2) {
    latest[1] = now;
    latest[2]++;
  } else used.push([now, now, 1]);
  lease.left--;
  lease.isActive = true;
  return {
    allowed: true,
    remaining: lease.remaining + lease.left,
    resetAt: (performance.timeOrigin + now + windowMs + grain) / 1000,
    retryAfter: 0,
  };
}
