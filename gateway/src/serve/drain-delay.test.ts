import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Drained, drained } from './drain-delay.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** What became of it with connections at these milliseconds, and when. */
async function drain(delayMs: number, connections: readonly number[]) {
  const begin = performance.now();
  const last = () => Math.max(-1e6, ...connections.filter((at) => begin + at <= performance.now())) + begin;
  let outcome: Drained | undefined;
  const done = drained(delayMs, last).then((value) => {
    outcome = value;
  });
  while (outcome === undefined) await vi.advanceTimersToNextTimerAsync();
  await done;
  return { ...outcome, atMs: Math.round(performance.now() - begin) };
}

const every = (ms: number, until: number) => Array.from({ length: until / ms }, (_, i) => i * ms);

describe('the drain of a stopping gateway', () => {
  it.each([
    ['no delay', 0, [], { atMs: 0, routed: false }],
    ['no delay, and connections', 0, every(10, 1000), { atMs: 0, routed: false }],
    ['no connection', 8000, [], { atMs: 8000, routed: false }],
    ['connections at its begin', 8000, every(10, 5000), { atMs: 8000, routed: false }],
    ['a connection shortly before its end', 8000, [7000], { atMs: 9000, routed: false }],
    ['connections beyond it', 8000, every(500, 12_500), { atMs: 14_000, routed: false }],
    ['connections without an end', 8000, every(500, 60_000), { atMs: 32_000, routed: true }],
    ['a short delay', 100, [90], { atMs: 190, routed: false }],
  ])('with %s', async (_, delayMs, connections, expected) => {
    const { atMs, routed, extraMs } = await drain(delayMs, connections);
    expect(routed).toBe(expected.routed);
    expect(extraMs > 0).toBe(expected.atMs > delayMs);
    expect(Math.abs(atMs - expected.atMs)).toBeLessThanOrEqual(2);
  });

  it('says how much longer than the delay it took', async () => {
    expect((await drain(1000, [500, 1400])).extraMs).toBeCloseTo(1400, -1);
  });
});
