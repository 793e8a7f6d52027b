import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CpuClock } from './cpu.ts';
import { CpuExceeded } from './failures.ts';
import { SLICE_MS } from './turns.ts';

const LIMIT_MS = 25;
const asleep = new Int32Array(new SharedArrayBuffer(4));

/** Time passes without CPU time, as on a machine whose other processes have their turn. */
function preempted(ms: number): void {
  Atomics.wait(asleep, 0, 0, ms);
}

function busy(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

/** Runs slices, each of which `work` fills, until the clock ends the call or there were so many. */
async function slices(most: number, work: () => void): Promise<{ readonly count: number; readonly ended: boolean }> {
  const clock = new CpuClock();
  clock.start(LIMIT_MS);
  try {
    for (let count = 0; count < most; count++) {
      work();
      if (clock.refuel(() => {}, true) === 0) await clock.wait(() => {});
    }
    return { count: most, ended: false };
  } catch (error) {
    expect(error).toBeInstanceOf(CpuExceeded);
    return { count: 0, ended: true };
  } finally {
    clock.stop();
    await immediate();
  }
}

describe('the CPU time of a call', () => {
  it('is not the time in which the machine ran something else', async () => {
    const slice = () => {
      busy(0.1);
      preempted(1.5 * SLICE_MS);
    };
    expect(await slices(60, slice)).toEqual({ count: 60, ended: false });
  });

  it('is that of its slices together', async () => {
    expect(await slices(1_000, () => busy(1.1 * SLICE_MS))).toMatchObject({ ended: true });
  });

  it('is at least a tenth of the time that it takes', async () => {
    expect(await slices(1_000, () => preempted(1.5 * SLICE_MS))).toMatchObject({ ended: true });
  });
});
