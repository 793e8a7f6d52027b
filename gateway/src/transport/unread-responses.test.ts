/** What one response counts in memory while its client does not read. */
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { BufferBudget } from '../memory/buffer-budget.ts';
import { UnreadResponses } from './unread-responses.ts';

describe('a stream whose client pauses', () => {
  it.each([false, true])('counts until it has drained, also if it was found waiting before: %s', async (stalled) => {
    const budget = new BufferBudget(1 << 20);
    const unread = new UnreadResponses(budget).of({ exchange: null, cutOff: () => expect.unreachable() });
    const taken: (() => void)[] = [];
    const sink = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void taken.push(done) });
    if (stalled) expect([unread.stalls(), budget.used > 0]).toEqual([true, true]);
    const least = budget.used;
    for (let i = 0; i < 2; i++) {
      expect(sink.write(Buffer.alloc(1000))).toBe(false);
      unread.isFull(sink);
      await eventually(() => expect(budget.used).toBeGreaterThan(least + 1000));
      taken.pop()?.();
      await eventually(() => expect(budget.used).toBe(0));
    }
  });
});
