/** Quotas that workers share, with leases: random interleavings of workers, buckets, messages, times and crashes. */
import { setImmediate as immediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { NOBODY, type OwnerPath } from '../shares/owner-path.ts';
import { LeasingRateLimitStore } from './leasing-rate-limit-store.ts';
import { MemoryRateLimitStore } from './memory-rate-limit-store.ts';
import type { LeaseSettlement, QuotaAnswer } from './quota-lease.ts';
import { QuotaLeases, type WorkerLeases } from './quota-leases.ts';
import type { RateLimitResult } from './rate-limit-store.ts';

const QUOTA = 2_000;
const WINDOW = 10;
const WINDOW_MS = WINDOW * 1000;
const GRAIN_MS = WINDOW_MS / 1024;
const WORKERS = 2;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Grant {
  readonly bucket: string;
  readonly at: number;
}
type Refusal = Grant;
/** Set on answers of the parent, which are decided before the worker gets them. */
type Decided = RateLimitResult & { readonly decidedAt?: number };

/** A worker, and its messages from and to the parent, which keep their order. */
class SimulatedWorker {
  readonly store: LeasingRateLimitStore;
  readonly leases: WorkerLeases;
  readonly toParent: (() => void)[] = [];
  readonly toWorker: (() => void)[] = [];
  messages = 0;
  hasCrashed = false;

  constructor(fleet: SimulatedFleet) {
    this.leases = fleet.quotas.of({
      recallLease: (id) =>
        new Promise<LeaseSettlement | null>((resolve) => {
          this.toWorker.push(() => {
            void this.store.recallLease(id).then((settlement) => this.toParent.push(() => resolve(settlement)));
          });
        }),
    });
    this.store = new LeasingRateLimitStore({
      workers: WORKERS,
      now: () => fleet.clock,
      parent: {
        takeRateLimit: (request) =>
          new Promise<QuotaAnswer>((resolve) => {
            this.messages++;
            this.toParent.push(() => {
              void Promise.resolve(this.leases.take(request)).then((answer) => {
                const decided = { ...answer, decidedAt: fleet.clock };
                this.toWorker.push(() => resolve(decided));
              });
            });
          }),
        settleLeases: (settled) => {
          this.messages++;
          this.toParent.push(() => this.leases.settle(settled));
        },
      },
    });
  }

  crash(): void {
    this.hasCrashed = true;
    this.toParent.length = 0;
    this.toWorker.length = 0;
    this.leases.end();
  }
}

class SimulatedFleet {
  clock = 1_000_000;
  readonly memory = new MemoryRateLimitStore({ now: () => this.clock });
  readonly quotas = new QuotaLeases({ store: this.memory, workers: WORKERS });
  readonly workers = Array.from({ length: WORKERS }, () => new SimulatedWorker(this));
  readonly grants: Grant[] = [];
  readonly refusals: Refusal[] = [];
  /** Results of requests whose worker has not crashed. */
  readonly results: RateLimitResult[] = [];

  take(index: number, bucket: string, count = 1, owner: OwnerPath = NOBODY): void {
    const worker = this.workers[index];
    if (worker === undefined || worker.hasCrashed) return;
    for (let i = 0; i < count; i++) {
      const result = worker.store.take(bucket, QUOTA, WINDOW, owner);
      if (!(result instanceof Promise)) this.#note(bucket, result);
      else void result.then((each) => worker.hasCrashed || this.#note(bucket, each));
    }
  }

  #note(bucket: string, result: Decided): void {
    const at = result.decidedAt ?? this.clock;
    (result.allowed ? this.grants : this.refusals).push({ bucket, at });
    this.results.push(result);
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 10) {
      this.clock += Math.min(10, left);
      await vi.advanceTimersByTimeAsync(Math.min(10, left));
      await this.deliver();
    }
  }

  /** Delivers all messages, unless a worker stands still. */
  async deliver(stalled: SimulatedWorker | null = null): Promise<void> {
    for (let rounds = 0; rounds < 4; ) {
      await immediate();
      const going = this.workers.filter((worker) => worker !== stalled);
      const sent = going.flatMap(({ toParent, toWorker }) => [...toParent.splice(0), ...toWorker.splice(0)]);
      for (const message of sent) message();
      rounds = sent.length === 0 ? rounds + 1 : 0;
    }
  }

  /** Delivers one message of a worker. */
  async deliverOne(index: number, isToParent: boolean): Promise<void> {
    const worker = this.workers[index];
    (isToParent ? worker?.toParent : worker?.toWorker)?.shift()?.();
    await immediate();
  }

  grantsOf(bucket: string): number[] {
    return this.grants
      .filter((grant) => grant.bucket === bucket)
      .map(({ at }) => at)
      .sort((a, b) => a - b);
  }

  /** Returns the least time in which more than the quota was granted; Infinity if the quota was never exceeded. */
  leastSpan(bucket: string): number {
    const times = this.grantsOf(bucket);
    return Math.min(...times.slice(QUOTA).map((time, i) => time - (times[i] ?? 0)), Number.POSITIVE_INFINITY);
  }
}

const buckets = ['a', 'b'] as const;
const worker = fc.nat(WORKERS - 1);
const takes = fc.record({
  kind: fc.constant('take' as const),
  worker,
  bucket: fc.constantFrom(...buckets),
  count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 300 })),
});
const passes = fc.record({
  kind: fc.constant('pass' as const),
  ms: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(400), fc.constant(3_000)),
});
const delivers = fc.record({ kind: fc.constant('deliver' as const), worker, isToParent: fc.boolean() });
const crashes = fc.record({ kind: fc.constant('crash' as const), worker: fc.constant(1) });

describe('a quota that workers share', () => {
  it('is never exceeded, however messages are late and workers crash', async () => {
    const late = fc.record({ kind: fc.constant('late' as const), ms: fc.integer({ min: 1, max: 200 }) });
    const steps = fc.array(
      fc.oneof(
        { arbitrary: takes, weight: 10 },
        { arbitrary: delivers, weight: 10 },
        { arbitrary: passes, weight: 3 },
        { arbitrary: late, weight: 2 },
        { arbitrary: crashes, weight: 1 },
      ),
      { minLength: 20, maxLength: 120 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const fleet = new SimulatedFleet();
        for (const step of all) {
          if (step.kind === 'take') fleet.take(step.worker, step.bucket, step.count);
          else if (step.kind === 'deliver') await fleet.deliverOne(step.worker, step.isToParent);
          else if (step.kind === 'pass') await fleet.pass(step.ms);
          else if (step.kind === 'late') fleet.clock += step.ms;
          else fleet.workers[step.worker]?.crash();
        }
        await fleet.deliver();
        for (const bucket of buckets) expect(fleet.leastSpan(bucket)).toBeGreaterThanOrEqual(WINDOW_MS);
      }),
      propertyRuns(40),
    );
  });

  it('is granted to the last, whoever asks', async () => {
    const steps = fc.array(fc.oneof({ arbitrary: takes, weight: 3 }, passes), { minLength: 20, maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const fleet = new SimulatedFleet();
        for (const step of all) {
          if (step.kind === 'take') fleet.take(step.worker, step.bucket, step.count);
          else await fleet.pass(step.ms);
          await fleet.deliver();
        }
        for (const { bucket, at } of fleet.refusals) {
          // Times are kept to a grain, in the bucket and by workers.
          const from = at - WINDOW_MS - 2 * GRAIN_MS - 0.01;
          expect(fleet.grantsOf(bucket).filter((time) => time > from && time <= at).length).toBeGreaterThanOrEqual(
            QUOTA,
          );
        }
        for (const bucket of buckets) expect(fleet.leastSpan(bucket)).toBeGreaterThanOrEqual(WINDOW_MS);
      }),
      propertyRuns(40),
    );
  });

  it('is wholly for the worker that gets all requests, and costs it few messages', async () => {
    const fleet = new SimulatedFleet();
    // The other one has a lease, and stops.
    fleet.take(1, 'a', 20);
    await fleet.deliver();
    fleet.take(1, 'a');
    await fleet.deliver();
    for (let i = 0; i < 400; i++) {
      fleet.take(0, 'a', 5);
      fleet.clock += 1;
      await fleet.deliver();
    }
    expect(fleet.grants).toHaveLength(QUOTA);
    expect(fleet.workers[0]?.messages).toBeLessThan(QUOTA / 4);
  });

  it('is counted request by request if few come, so that what remains is exact', async () => {
    const fleet = new SimulatedFleet();
    for (let i = 0; i < 50; i++) {
      fleet.take(i % 2, 'a');
      await fleet.pass(20);
    }
    expect(fleet.results.map(({ remaining }) => remaining)).toEqual(
      Array.from({ length: 50 }, (_, i) => QUOTA - 1 - i),
    );
  });

  it('loses no more than a lease with a worker that crashes', async () => {
    const fleet = new SimulatedFleet();
    for (let i = 0; i < 3; i++) {
      fleet.take(1, 'a', 30);
      await fleet.deliver();
    }
    fleet.workers[1]?.crash();
    for (let i = 0; i < 2 * QUOTA; i += 20) {
      fleet.take(0, 'a', 20);
      await fleet.deliver();
    }
    expect(fleet.grants.length).toBeGreaterThanOrEqual(QUOTA - Math.floor(QUOTA / (64 * WORKERS)));
    expect(fleet.grants.length).toBeLessThanOrEqual(QUOTA);
  });

  it('goes on without the lease of a worker that stands still, and has it again when it goes on', async () => {
    const fleet = new SimulatedFleet();
    const [, stalled = null] = fleet.workers;
    fleet.take(1, 'a', 30);
    await fleet.deliver();
    const held = stalled?.leases.leases.size ?? 0;
    expect(held).toBeGreaterThan(0);
    for (let i = 0; i < 2 * QUOTA; i += 20) {
      fleet.take(0, 'a', 20);
      await fleet.deliver(stalled);
      await vi.advanceTimersByTimeAsync(200);
      await fleet.deliver(stalled);
    }
    const before = fleet.grants.length;
    expect(before).toBeLessThan(QUOTA);
    expect(before).toBeGreaterThanOrEqual(QUOTA - Math.floor(QUOTA / (64 * WORKERS)));
    await fleet.deliver();
    fleet.take(0, 'a', QUOTA);
    await fleet.deliver();
    expect(fleet.grants).toHaveLength(QUOTA);
  });

  it('that is used up refuses without messages until a request can be allowed', async () => {
    const fleet = new SimulatedFleet();
    fleet.take(0, 'a', QUOTA + 1);
    await fleet.deliver();
    const messages = fleet.workers[0]?.messages;
    fleet.take(0, 'a', 1_000);
    await fleet.pass(WINDOW_MS - 20);
    fleet.take(0, 'a', 1_000);
    expect(fleet.workers[0]?.messages).toBe(messages);
    expect(fleet.refusals).toHaveLength(2_001);
    await fleet.pass(100);
    fleet.take(0, 'a');
    await fleet.deliver();
    expect(fleet.results.at(-1)).toMatchObject({ allowed: true, remaining: QUOTA - 1 });
  });

  it('stays with its worker if another client asks for a great many buckets', async () => {
    const fleet = new SimulatedFleet();
    for (let i = 0; i < 100; i++) {
      fleet.take(0, 'a', 10, ['policy', 'client']);
      for (let j = 0; j < 100; j++) fleet.take(0, `other ${i} ${j}`, 1, ['policy', 'other client']);
      await fleet.deliver();
    }
    const messages = fleet.workers[0]?.messages ?? 0;
    for (let i = 0; i < 10; i++) {
      fleet.take(0, 'a', 10, ['policy', 'client']);
      await fleet.deliver();
    }
    expect((fleet.workers[0]?.messages ?? 0) - messages).toBeLessThanOrEqual(10);
    expect(fleet.grantsOf('a')).toHaveLength(1_100);
  });

  it('leaves nothing behind for a great many buckets', async () => {
    const fleet = new SimulatedFleet();
    for (let i = 0; i < 20_000; i += 100) {
      for (let j = 0; j < 100; j++) fleet.take(0, `bucket ${i + j}`, 5);
      await fleet.deliver();
    }
    expect(fleet.workers[0]?.leases.leases.size).toBeLessThanOrEqual(4_096);
    await fleet.pass(2_000);
    expect(fleet.workers[0]?.leases.leases.size).toBe(0);
  });
});
