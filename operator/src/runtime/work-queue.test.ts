import { describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { WorkQueue } from './work-queue.ts';

describe('a work queue', () => {
  it('works on a key once at a time, and again when it was added meanwhile', async () => {
    let active = 0;
    let most = 0;
    let runs = 0;
    const gate = Promise.withResolvers<void>();
    const queue = new WorkQueue({
      workers: 4,
      work: async () => {
        runs++;
        most = Math.max(most, ++active);
        await gate.promise;
        active--;
        return undefined;
      },
      onError: () => undefined,
    });
    for (let n = 0; n < 5; n++) queue.add('a');
    await eventually(() => expect(runs).toBe(1));
    queue.add('a');
    queue.add('a');
    gate.resolve();
    await eventually(() => expect(runs).toBe(2));
    await queue.close();
    expect([runs, most]).toEqual([2, 1]);
  });

  it('comes back to a key that failed', async () => {
    const errors: unknown[] = [];
    let runs = 0;
    const queue = new WorkQueue({
      workers: 1,
      work: async () => {
        if (++runs < 3) throw new Error('no');
        return undefined;
      },
      onError: (_, error) => errors.push(error),
    });
    queue.add('a');
    await eventually(() => expect(runs).toBe(3));
    expect(errors).toHaveLength(2);
    await queue.close();
  });

  it('comes back after the time that the work asks for, and not once it is closed', async () => {
    let runs = 0;
    const queue = new WorkQueue({
      workers: 1,
      work: async () => (runs++ === 0 ? 10 : undefined),
      onError: () => undefined,
    });
    queue.add('a');
    await eventually(() => expect(runs).toBe(2));
    await queue.close();
    queue.add('a');
    expect(queue.depth).toBe(0);
  });
});
