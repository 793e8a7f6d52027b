import { describe, expect, it } from 'vitest';
import { Checks } from './checks.ts';
import { Crowded, FairQueue } from './fair-queue.ts';

const LIMITS = { atOnce: 2, mostWaiting: 4, mostMs: 60_000 };

/** Work that goes on until it is told to end; `done` has the names in the order in which they began. */
function works() {
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => async (signal: AbortSignal) => {
    began.push(name);
    await new Promise<void>((resolve) => {
      ends.push(resolve);
      signal.addEventListener('abort', () => resolve());
    });
    return name;
  };
  const end = async () => {
    ends.shift()?.();
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  return { began, work, end };
}

const outcome = (work: Promise<string>) =>
  work.catch((error: unknown) => (error instanceof Crowded ? 'crowded' : error));

describe('a queue with turns', () => {
  it('lets one that holds less in for one of who holds most, and gives it the next turn', async () => {
    const queue = new FairQueue(LIMITS);
    const { began, work, end } = works();
    const flood = Array.from({ length: 6 }, (_, i) => outcome(queue.run(['busy', `n${i}`], work(`busy ${i}`))));
    expect(await outcome(queue.run(['busy', 'n6'], work('busy 6')))).toBe('crowded');
    const good = outcome(queue.run(['quiet', 'alice'], work('alice')));
    expect(await flood[2]).toBe('crowded');
    await end();
    await end();
    expect(began.slice(2).toSorted()).toEqual(['alice', 'busy 3']);
    for (let i = 0; i < 6; i++) await end();
    expect(await good).toBe('alice');
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  it('ends the oldest under way of who has most, where nothing waits', async () => {
    const queue = new FairQueue({ atOnce: 3, mostWaiting: 0, mostMs: 0 });
    const { work, end } = works();
    const flood = Array.from({ length: 3 }, (_, i) => outcome(queue.run(['busy', `n${i}`], work(`busy ${i}`))));
    expect(await outcome(queue.run(['busy', 'n3'], work('busy 3')))).toBe('crowded');
    const good = outcome(queue.run(['quiet'], work('good')));
    expect(await flood[0]).toBe('crowded');
    expect(queue.running).toBe(3);
    for (let i = 0; i < 4; i++) await end();
    expect([await flood[1], await flood[2], await good]).toEqual(['busy 1', 'busy 2', 'good']);
    expect(queue.running).toBe(0);
  });

  it('lets nothing wait too long, and loses no place by it', async () => {
    const queue = new FairQueue({ atOnce: 1, mostWaiting: 4, mostMs: 30 });
    const { work, end } = works();
    const first = outcome(queue.run(['a'], work('first')));
    expect(await outcome(queue.run(['a'], work('late')))).toBe('crowded');
    await end();
    expect(await first).toBe('first');
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });
});

describe('checks of credentials', () => {
  const check = (key: string, owner: string, run: (signal: AbortSignal) => Promise<string>) => ({
    ...{ key, name: key, owner: [owner] },
    run,
  });

  it('checks the same once at a time, also where the first client was refused for what it holds', async () => {
    const queue = new FairQueue({ atOnce: 3, mostWaiting: 0, mostMs: 0 });
    const checks = new Checks<string>(queue, () => true);
    const { began, work, end } = works();
    const busy = ['shared', 'b', 'c'].map((key) => outcome(checks.run(check(key, 'busy', work(key)))));
    const joined = outcome(checks.run(check('shared', 'quiet', work('shared'))));
    const other = outcome(checks.run(check('d', 'other', work('d'))));
    expect(await busy[0]).toBe('crowded');
    for (let i = 0; i < 5; i++) await end();
    expect(await joined).toBe('shared');
    expect([await other, began.filter((name) => name === 'shared').length]).toEqual(['d', 2]);
  });

  it('gives credentials that held before a turn of their own within a network', async () => {
    const queue = new FairQueue({ atOnce: 1, mostWaiting: 4, mostMs: 60_000 });
    const checks = new Checks<string>(queue, (verdict) => verdict === 'alice');
    const { began, work, end } = works();
    const before = checks.run(check('alice', 'net', work('alice')));
    await end();
    await before;
    const flood = Array.from({ length: 5 }, (_, i) =>
      outcome(checks.run(check(`guess ${i}`, 'net', work(`guess ${i}`)))),
    );
    const again = outcome(checks.run(check('alice', 'net', work('alice'))));
    expect(await flood[1]).toBe('crowded');
    for (let i = 0; i < 3; i++) await end();
    expect(began.slice(2, 4)).toContain('alice');
    for (let i = 0; i < 5; i++) await end();
    expect(await again).toBe('alice');
  });
});
