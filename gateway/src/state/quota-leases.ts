/**
 * The parent's side of quotas that its workers share: decides about each request, and leases parts of large quotas to
 * workers, which together never exceed them (docs/decisions.md#quota-leases).
 */
import type { MemoryRateLimitStore } from './memory-rate-limit-store.ts';
import {
  BLOCKS_PER_WORKER,
  grantedOf,
  LEASE_MS,
  type LeaseHolder,
  type LeaseSettlement,
  leasesQuota,
  type QuotaAnswer,
  type QuotaRequest,
} from './quota-lease.ts';
import type { Bucket, BucketLease, Uses } from './rate-limit-bucket.ts';

export interface QuotaLeasesOptions {
  readonly store: MemoryRateLimitStore;
  /** Workers that share the quotas. */
  readonly workers: number;
  /** Milliseconds that a worker has for giving a lease back; from then on, it counts as used. Default 100. */
  readonly recallMs?: number;
}

interface Lease {
  readonly id: number;
  readonly worker: WorkerLeases;
  readonly bucket: Bucket;
  readonly part: BucketLease;
  /** Time after which the worker takes nothing from it, by the store's clock. */
  readonly until: number;
  /** Resolves when the worker has answered, or has not in time; null before it is asked. */
  recall: Promise<void> | null;
  /** The recall has ended. */
  isSilent: boolean;
}

/** A lease is at most this part of what is left, for each worker: the nearer the end, the smaller. */
const PARTS_PER_WORKER = 4;
/** Fewer permits are not worth a lease. */
const LEAST = 4;

export class QuotaLeases {
  readonly #store: MemoryRateLimitStore;
  readonly #workers: number;
  readonly #recallMs: number;
  readonly #leases = new WeakMap<Bucket, Set<Lease>>();
  #nextId = 1;

  constructor({ store, workers, recallMs = 100 }: QuotaLeasesOptions) {
    this.#store = store;
    this.#workers = workers;
    this.#recallMs = recallMs;
  }

  /** The side of one worker. */
  of(holder: LeaseHolder): WorkerLeases {
    return new WorkerLeases(this, holder);
  }

  take(worker: WorkerLeases, request: QuotaRequest): QuotaAnswer | Promise<QuotaAnswer> {
    const { bucket: name, quota, windowSeconds, owner } = request;
    const now = this.#store.now();
    const bucket = this.#store.open(name, now, owner);
    if (bucket === null) return this.#store.crowded(now, windowSeconds);
    const { count = 1 } = request;
    let result = bucket.take(now, quota, windowSeconds * 1000);
    let granted = result.allowed ? 1 : 0;
    while (result.allowed && granted < count) {
      result = bucket.take(now, quota, windowSeconds * 1000);
      if (result.allowed) granted++;
    }
    const answer = count === 1 ? result : { ...result, granted };
    if (result.allowed) return this.#withLease(worker, bucket, request, answer, now);
    if (bucket.isClosed) return answer;
    if (bucket.leased === 0) return { ...answer, refusedMs: result.retryAfter * 1000 };
    const recalls = this.#recall(bucket);
    if (recalls === null) return answer;
    return recalls.then(async () => {
      const rest = await this.take(worker, { ...request, count: count - granted });
      return { ...rest, granted: granted + grantedOf(rest) };
    });
  }

  settle({ used, id }: LeaseSettlement, worker: WorkerLeases): void {
    const lease = worker.leases.get(id);
    if (lease === undefined) return;
    const now = this.#store.now();
    this.#end(
      lease,
      used.map(([first, last, count]) => [now - first, now - last, count]),
    );
  }

  /** The worker has ended: nobody knows what it has used. */
  forfeit(lease: Lease): void {
    const time = Math.min(this.#store.now(), lease.until);
    this.#end(lease, [[time, time, lease.part.permits]]);
  }

  #withLease(
    worker: WorkerLeases,
    bucket: Bucket,
    { quota, windowSeconds, expected = 0 }: QuotaRequest,
    result: QuotaAnswer,
    now: number,
  ): QuotaAnswer {
    if (worker.hasEnded || !leasesQuota(quota, this.#workers)) return result;
    const permits = Math.min(
      expected,
      Math.floor(quota / (BLOCKS_PER_WORKER * this.#workers)),
      Math.floor(result.remaining / (PARTS_PER_WORKER * this.#workers)),
    );
    if (permits < LEAST) return result;
    const until = now + LEASE_MS;
    const part = bucket.lease(permits, quota, windowSeconds * 1000, until);
    const lease: Lease = { id: this.#nextId++, worker, bucket, part, until, recall: null, isSilent: false };
    worker.leases.set(lease.id, lease);
    const leases = this.#leases.get(bucket);
    if (leases === undefined) this.#leases.set(bucket, new Set([lease]));
    else leases.add(lease);
    return { ...result, remaining: result.remaining - permits, lease: { id: lease.id, permits } };
  }

  #end(lease: Lease, used: readonly Uses[]): void {
    const { id, worker, bucket, part } = lease;
    worker.leases.delete(id);
    this.#leases.get(bucket)?.delete(lease);
    bucket.settle(part, used);
  }

  /** Asks for each lease of a bucket once; null if no answer is awaited. */
  #recall(bucket: Bucket): Promise<unknown> | null {
    const awaited: Promise<void>[] = [];
    for (const lease of this.#leases.get(bucket) ?? []) {
      lease.recall ??= this.#recallOne(lease);
      if (!lease.isSilent) awaited.push(lease.recall);
    }
    return awaited.length === 0 ? null : Promise.all(awaited);
  }

  async #recallOne(lease: Lease): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    const timeout = new Promise<null>((resolve) => {
      late = setTimeout(resolve, this.#recallMs, null);
    });
    const answered = Promise.resolve(lease.worker.holder.recallLease(lease.id)).catch(() => null);
    const settlement = await Promise.race([answered, timeout]);
    clearTimeout(late);
    lease.isSilent = true;
    if (settlement !== null) this.settle(settlement, lease.worker);
    // An answer that comes too late is good for later requests.
    else void answered.then((each) => each && this.settle(each, lease.worker));
  }
}

/** Quotas as one worker asks for them, and its leases. */
export class WorkerLeases {
  readonly #quotas: QuotaLeases;
  readonly holder: LeaseHolder;
  readonly leases = new Map<number, Lease>();
  hasEnded = false;

  constructor(quotas: QuotaLeases, holder: LeaseHolder) {
    this.#quotas = quotas;
    this.holder = holder;
  }

  take(request: QuotaRequest): QuotaAnswer | Promise<QuotaAnswer> {
    if (request.settled) this.settle(request.settled);
    return this.#quotas.take(this, request);
  }

  settle(settlements: readonly LeaseSettlement[]): void {
    for (const each of settlements) this.#quotas.settle(each, this);
  }

  /** The worker has ended: what it has is used, and messages that still come get no lease. */
  end(): void {
    this.hasEnded = true;
    for (const lease of [...this.leases.values()]) this.#quotas.forfeit(lease);
  }
}
