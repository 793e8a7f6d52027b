import { describe, expect, it, vi } from 'vitest';
import type { Exchange } from '../../kit.ts';
import { Inspections } from './inspections.ts';

/** Inspections that end when they are told to. */
function hangingRules() {
  const ends: (() => void)[] = [];
  const inspect = () =>
    new Promise<{ bytes: Buffer; cpuMs: number }>((resolve) => {
      ends.push(() => resolve({ bytes: Buffer.alloc(52), cpuMs: 1 }));
    });
  return { ends, rules: { inspect } };
}

function requestOf(clientIp: string): Exchange {
  return { clientIp, closed: false } as Exchange;
}

const FRAME = new Uint8Array();

describe('inspections', () => {
  it('of one network leave room for those of another', async () => {
    const { ends, rules } = hangingRules();
    const inspections = new Inspections();
    const busy = Array.from({ length: 202 }, () => inspections.run(rules, FRAME, requestOf('192.0.2.1'), 100));
    await expect(inspections.run(rules, FRAME, requestOf('192.0.2.1'), 100)).rejects.toThrow('too many wait');
    // Two of the four turns are for others, at once.
    const quiet = [1, 2].map(() => inspections.run(rules, FRAME, requestOf('198.51.100.7'), 100));
    expect(ends).toHaveLength(4);
    for (const end of ends.slice(2)) end();
    expect((await Promise.all(quiet)).map(({ cpuMs }) => cpuMs)).toEqual([1, 1]);
    for (let done = 0; done < busy.length; done++) {
      await vi.waitUntil(() => ends.length > done + 2 || done < 2);
      (done < 2 ? ends[done] : ends[done + 2])?.();
    }
    expect(await Promise.all(busy)).toHaveLength(202);
  });

  it('that fail or take too long have no verdict', async () => {
    const inspect = () => Promise.reject(new Error('unreachable'));
    const { verdict } = await new Inspections().run({ inspect }, FRAME, requestOf('192.0.2.1'), 100);
    expect(verdict).toEqual({ unfinished: 'fault', reason: 'unreachable' });
  });
});
