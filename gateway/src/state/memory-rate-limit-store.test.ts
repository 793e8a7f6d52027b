import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { MemoryRateLimitStore } from './memory-rate-limit-store.ts';

function storeAt(start = 1_000_000, options: { maxBuckets?: number } = {}) {
  const clock = { ms: start };
  return { clock, store: new MemoryRateLimitStore({ ...options, now: () => clock.ms }) };
}

describe('MemoryRateLimitStore', () => {
  it('counts down, refuses past the quota, and says when to come back', () => {
    const { clock, store } = storeAt();
    expect(store.take('a', 2, 10)).toEqual({ allowed: true, remaining: 1, resetAt: 1010, retryAfter: 0 });
    clock.ms += 4_000;
    expect(store.take('a', 2, 10)).toEqual({ allowed: true, remaining: 0, resetAt: 1014, retryAfter: 0 });
    expect(store.take('a', 2, 10)).toEqual({ allowed: false, remaining: 0, resetAt: 1014, retryAfter: 6 });
    clock.ms += 6_000;
    expect(store.take('a', 2, 10)).toMatchObject({ allowed: true, remaining: 0 });
    expect(store.take('a', 2, 10).allowed).toBe(false);
  });

  it('keeps buckets apart', () => {
    const { store } = storeAt();
    expect(store.take('a', 1, 10).allowed).toBe(true);
    expect(store.take('b', 1, 10).allowed).toBe(true);
    expect(store.take('a', 1, 10).allowed).toBe(false);
  });

  it('admits exactly what a log of all requests would', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 20 }), (gaps, quota) => {
        const { clock, store } = storeAt();
        const log: number[] = [];
        for (const gap of gaps) {
          clock.ms += gap;
          const inWindow = log.filter((time) => time > clock.ms - 2_000).length;
          const { allowed, remaining } = store.take('a', quota, 2);
          expect(allowed).toBe(inWindow < quota);
          if (allowed) log.push(clock.ms);
          expect(remaining).toBe(quota - inWindow - (allowed ? 1 : 0));
        }
      }),
      propertyRuns(100),
    );
  });

  it('never admits more than a large quota in any window, and all of it in a fresh one', () => {
    const { clock, store } = storeAt();
    const admitted: number[] = [];
    for (let i = 0; i < 60_000; i++) {
      clock.ms += 1;
      if (store.take('a', 5_000, 10).allowed) admitted.push(clock.ms);
    }
    expect(admitted.slice(0, 5_000).at(-1)).toBe(1_000_000 + 5_000);
    for (let i = 5_000; i < admitted.length; i++) {
      expect((admitted[i] ?? 0) - (admitted[i - 5_000] ?? 0)).toBeGreaterThanOrEqual(10_000);
    }
    expect(admitted.length).toBeGreaterThan(29_000);
  });

  it('drops buckets that have run out, without a timer', () => {
    const { clock, store } = storeAt();
    for (let i = 0; i < 1_000; i++) store.take(`a${i}`, 5, 1);
    clock.ms += 2_000;
    for (let i = 0; i < 1_000; i++) store.take(`b${i}`, 5, 1);
    expect(store.size).toBeLessThanOrEqual(1_001);
  });

  it('makes no quota whole again for the buckets that another client makes up, in its policy or in another', () => {
    const { clock, store } = storeAt(0, { maxBuckets: 10 });
    const take = (name: string, policy: string, owner: string) => store.take(name, 1, 60, [policy, owner]).allowed;
    expect([take('victim', 'login', 'quiet'), take('victim of flood', 'login', 'busy')]).toEqual([true, true]);
    const made = Array.from({ length: 100 }, (_, i) => take(`flood ${i}`, 'open', 'busy'));
    expect(made.filter(Boolean)).toHaveLength(8);
    expect([take('victim', 'login', 'quiet'), take('victim of flood', 'login', 'busy')]).toEqual([false, false]);
    expect(take('newcomer', 'login', 'new')).toBe(true);
    // It had to make room, and is not whole again for that.
    expect(take('flood 0', 'open', 'busy')).toBe(false);
    clock.ms += 61_000;
    expect([take('flood 0', 'open', 'busy'), take('flood 99', 'open', 'busy')]).toEqual([true, true]);
  });

  it('forgets the bucket unused for longest where each client has one', () => {
    const { store } = storeAt(0, { maxBuckets: 3 });
    const take = (name: string) => store.take(name, 1, 60, ['policy', name]).allowed;
    for (const name of ['a', 'b', 'c', 'a', 'd']) take(name);
    expect(store.size).toBe(3);
    expect([take('a'), take('b')]).toEqual([false, true]);
  });
});
