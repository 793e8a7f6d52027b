import { describe, expect, it } from 'vitest';
import { MemoryBudgetStore } from './memory-budget-store.ts';

const TERMS = { amount: 1, quota: 1, windowSeconds: 60, leaseSeconds: 60 };

describe('MemoryBudgetStore', () => {
  it('makes no budget whole again for the buckets that another client makes up', () => {
    let now = 1_000_000;
    const store = new MemoryBudgetStore({ maxBuckets: 10, now: () => now });
    const spend = (bucket: string, owner: string) => {
      const { allowed } = store.reserve({ ...TERMS, bucket, id: bucket, owner: ['policy', owner] });
      store.settle({ bucket, id: bucket, amount: 1, windowSeconds: 60 });
      return allowed;
    };
    expect(spend('victim', 'quiet')).toBe(true);
    const made = Array.from({ length: 100 }, (_, i) => spend(`flood ${i}`, 'busy'));
    expect(made.filter(Boolean)).toHaveLength(9);
    expect([spend('victim', 'quiet'), spend('flood 0', 'busy')]).toEqual([false, false]);
    expect(spend('newcomer', 'new')).toBe(true);
    // It had to make room, and is not whole again for that.
    expect(spend('flood 0', 'busy')).toBe(false);
    now += 62_000;
    expect([spend('flood 0', 'busy'), spend('flood 99', 'busy')]).toEqual([true, true]);
  });

  it('passes over what is reserved', () => {
    const store = new MemoryBudgetStore({ maxBuckets: 2 });
    const owner = ['policy', 'busy'];
    for (const bucket of ['a', 'b']) store.reserve({ ...TERMS, bucket, id: bucket, owner });
    expect(store.reserve({ ...TERMS, bucket: 'c', id: 'c', owner: ['policy', 'new'] }).allowed).toBe(false);
    expect(store.settle({ bucket: 'a', id: 'a', amount: 1, windowSeconds: 60 })).toBe(true);
  });
});
