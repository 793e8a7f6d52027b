/** Frames of events: made once for all clients that want them, and counted once while some have yet to read them. */
import { describe, expect, it } from 'vitest';
import { BufferBudget } from '../../../../src/memory/buffer-budget.ts';
import { SERVER_SENT_EVENTS } from './channel.ts';
import { Frames, type FramesReader } from './frames.ts';
import { LiveBatch } from './live-batch.ts';
import type { StreamMessage } from './topic-source.ts';

describe('a batch', () => {
  const message = (key: string | null, payload: string, offset: number): StreamMessage => ({
    partition: 0,
    offset,
    key: key === null ? null : Buffer.from(key),
    payload: Buffer.from(payload),
    metadata: () => ({}),
  });
  const form = { framing: SERVER_SENT_EVENTS, withMetadata: false, check: null };
  const batch = new LiveBatch(
    {
      messages: [message('a', '1', 7), message('b', '2', 8), message(null, '3', 9), message('a', '4', 10)],
      position: [11],
      gaps: [{ partition: 0, from: 5, to: 7 }],
    },
    [5],
    (position) => position.join(),
  );
  const framesOf = (key: string | null) => batch.frames({ ...form }, key === null ? null : Buffer.from(key));

  it('makes the frames of a key once, however many clients want them', () => {
    expect(framesOf('a')).toBe(framesOf('a'));
    expect(framesOf(null)).toBe(framesOf(null));
    expect(framesOf('a')).not.toBe(framesOf('b'));
  });

  it('has for a key its messages, and what concerns every client', () => {
    const gap = 'event: gap\nid: 7\ndata: {"partition":0,"from":5,"to":7}\n\n';
    expect([framesOf('a').bytes.toString(), framesOf('a').messages]).toEqual([
      `${gap}id: 8\ndata: 1\n\nid: 11\ndata: 4\n\n`,
      2,
    ]);
    expect([framesOf('z').bytes.toString(), framesOf('z').messages]).toEqual([gap, 0]);
    expect(framesOf(null).messages).toBe(4);
  });
});

describe('frames that wait', () => {
  const BYTES = 1_000;
  const newFrames = () => new Frames(Buffer.alloc(BYTES), 1);

  /** A client that frames wait for, which lets go of all when it is cut off. */
  function reader(budget: BufferBudget, address: string) {
    const waiting = new Set<Frames>();
    const cut = () => {
      each.isCut = true;
      for (const frames of waiting) {
        waiting.delete(frames);
        frames.leave(each);
      }
    };
    const hold = () => {
      const held = budget.hold(address);
      held.evictable = { onlyForOthers: true, rate: () => 1, evict: cut };
      return held;
    };
    const each = { isCut: false, hold, cut, waiting } satisfies FramesReader & Record<string, unknown>;
    return each;
  }
  const waits = (each: ReturnType<typeof reader>, frames: Frames) => {
    each.waiting.add(frames);
    return frames.waitFor(each);
  };

  it('count once, until the last client has them', () => {
    const budget = new BufferBudget(10 * BYTES);
    const readers = Array.from({ length: 100 }, (_, i) => reader(budget, `192.0.2.${i}`));
    const frames = newFrames();
    expect(readers.every((each) => waits(each, frames))).toBe(true);
    const { used } = budget;
    expect(used).toBeGreaterThanOrEqual(BYTES);
    expect(used).toBeLessThan(2 * BYTES);
    for (const each of readers.slice(1)) frames.leave(each);
    expect(budget.used).toBe(used);
    frames.leave(readers[0] as FramesReader);
    expect(budget.used).toBe(0);
  });

  it('end the streams of the client that holds most, all that wait for the same, if others need the memory', () => {
    const budget = new BufferBudget(5 * BYTES);
    const greedy = [1, 2, 3].map(() => reader(budget, '192.0.2.66'));
    for (const frames of [newFrames(), newFrames(), newFrames()]) {
      for (const each of greedy) expect(waits(each, frames)).toBe(true);
    }
    const other = reader(budget, '192.0.2.1');
    expect([waits(other, newFrames()), waits(other, newFrames())]).toEqual([true, true]);
    expect([greedy.map(({ isCut }) => isCut), other.isCut]).toEqual([[true, true, true], false]);
    other.cut();
    expect(budget.used).toBe(0);
  });

  it('are refused to a client that holds most itself', () => {
    const budget = new BufferBudget(2 * BYTES);
    const [one, two] = [reader(budget, '192.0.2.66'), reader(budget, '192.0.2.66')];
    expect([waits(one, newFrames()), waits(two, newFrames())]).toEqual([true, false]);
    expect(one.isCut).toBe(false);
  });

  it('count for another client that waits when the first is gone', () => {
    const budget = new BufferBudget(4 * BYTES);
    const [first, second] = [reader(budget, '192.0.2.1'), reader(budget, '192.0.2.2')];
    const frames = newFrames();
    expect([waits(first, frames), waits(second, frames)]).toEqual([true, true]);
    first.cut();
    expect(budget.used).toBeGreaterThan(BYTES);
    expect(second.isCut).toBe(false);
    second.cut();
    expect(budget.used).toBe(0);
  });
});
