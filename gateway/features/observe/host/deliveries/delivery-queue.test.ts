import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deliveries } from './deliveries.ts';
import type { QueueSettings } from './delivery-queue.ts';
import type { Delivered } from './figures.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const SETTINGS: QueueSettings = { maxEntries: 3, maxBytes: 100, maxDelayMs: 1000, maxQueueBytes: 1000, parallel: 1 };

/** A queue whose target answers when the test says so. */
function opened(settings: Partial<QueueSettings> = {}, deliveries = new Deliveries()) {
  const batches: string[][] = [];
  const answers: ((outcome: Delivered) => void)[] = [];
  const overflows = vi.fn();
  const artifact = deliveries.use();
  const queue = artifact.open<string>({
    plugin: 'test',
    settings: { ...SETTINGS, ...settings },
    deliver: (batch, signal) => {
      batches.push([...batch]);
      return new Promise((resolve) => {
        answers.push(resolve);
        signal.addEventListener('abort', () => resolve('failed'));
      });
    },
    overflows,
  });
  const add = (...items: string[]) => items.map((item) => queue.add(item, 10));
  const settle = async (outcome: Delivered = 'sent') => {
    answers.shift()?.(outcome);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { queue, artifact, deliveries, batches, add, settle, overflows, figures: deliveries.figures.of('test') };
}

describe('a batch', () => {
  it('goes when it has enough entries, or its first has waited long enough', async () => {
    const { add, batches, settle } = opened();
    add('a', 'b');
    expect(batches).toEqual([]);
    add('c', 'd');
    expect(batches).toEqual([['a', 'b', 'c']]);
    await settle();
    expect(batches).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(batches).toEqual([['a', 'b', 'c'], ['d']]);
    await settle();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('has no more bytes than it may, unless one entry has', async () => {
    const { queue, batches, settle } = opened({ maxEntries: 100 });
    for (const bytes of [60, 30, 20, 500]) queue.add(String(bytes), bytes);
    await settle();
    await settle();
    await settle();
    expect(batches).toEqual([['60', '30'], ['20'], ['500']]);
  });

  it('waits for the one before, and for as many as may go at once', async () => {
    const one = opened({ maxDelayMs: 0, maxEntries: 1 });
    one.add('a', 'b');
    expect(one.batches).toEqual([['a']]);
    await one.settle();
    expect(one.batches).toEqual([['a'], ['b']]);
    const two = opened({ maxDelayMs: 0, maxEntries: 1, parallel: 2 });
    two.add('a', 'b', 'c');
    expect(two.batches).toEqual([['a'], ['b']]);
  });
});

describe('a queue', () => {
  it('is bounded, and says once that it is full until it is empty again', async () => {
    const { add, settle, figures, overflows } = opened({ maxQueueBytes: 30 });
    expect(add('a', 'b', 'c', 'd', 'e')).toEqual([true, true, true, false, false]);
    expect(overflows).toHaveBeenCalledTimes(1);
    expect(figures).toMatchObject({ queued: 3, queuedBytes: 30, outcomes: { sent: 0, dropped: 2, failed: 0 } });
    await settle();
    expect(figures).toMatchObject({ queued: 0, queuedBytes: 0, outcomes: { sent: 3, dropped: 2, failed: 0 } });
    expect(add('f', 'g', 'h', 'i')).toEqual([true, true, true, false]);
    expect(overflows).toHaveBeenCalledTimes(2);
    await settle('failed');
    expect(figures.outcomes).toEqual({ sent: 3, dropped: 3, failed: 3 });
  });

  it('leaves room for others, however long its target hangs', () => {
    const huge = { maxQueueBytes: 1 << 30, maxBytes: 1 << 30, maxEntries: 1e9 };
    const hanging = opened(huge);
    while (hanging.queue.add('x', 1 << 20));
    const working = opened(huge, hanging.deliveries);
    expect(working.queue.add('x', 1 << 20)).toBe(true);
  });

  it('sends what is left without delay when its artifact ends, and then keeps nothing', async () => {
    const { artifact, add, batches, settle, deliveries } = opened();
    add('a');
    artifact.close();
    expect(batches).toEqual([['a']]);
    add('b');
    await settle();
    expect(batches).toEqual([['a'], ['b']]);
    await settle();
    await deliveries.drain(1_000_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('draining', () => {
  it('ends when everything is delivered', async () => {
    const { add, deliveries, settle, figures } = opened();
    add('a', 'b');
    const drained = deliveries.drain(1_000_000);
    await settle();
    await drained;
    expect(figures.outcomes).toEqual({ sent: 2, dropped: 0, failed: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives up what its target does not take in time, and drops what comes then', async () => {
    const { add, deliveries, figures } = opened();
    add('a', 'b', 'c', 'd');
    const drained = deliveries.drain(5000);
    await vi.advanceTimersByTimeAsync(5000);
    await drained;
    await vi.advanceTimersByTimeAsync(0);
    expect(figures).toMatchObject({ queued: 0, queuedBytes: 0, outcomes: { sent: 0, dropped: 1, failed: 3 } });
    expect(add('e')).toEqual([false]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('delivers before the end what a request adds that has outlived its artifact', async () => {
  const { artifact, deliveries, batches, add, settle } = opened();
  artifact.close();
  add('late');
  let drained = false;
  const draining = deliveries.drain(10_000).then(() => {
    drained = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  expect([batches, drained]).toEqual([[['late']], false]);
  await settle();
  await draining;
  expect(drained).toBe(true);
});
