import { beforeAll, describe, expect, it } from 'vitest';
import { moduleOf, type Parts } from './binary/module-of.ts';
import { isCpuExceeded } from './call/failures.ts';
import { type FrameCall, HostModule } from './host-module.ts';

const [INPUT, OUTPUT, COUNTER] = [
  [0x41, 0x80, 0x08],
  [0x41, 0x80, 0x10],
  [0x41, 0x80, 0x20],
];
const LOAD = [0x2d, 0, 0];
const STORE = [0x3a, 0, 0];
const [ONE, ADD, END] = [[0x41, 1], 0x6a, 0x0b];

/** Its entry `count` adds the first byte of the frame to the number of calls that memory has seen. */
const PARTS: Parts = {
  functions: [
    ['input', 4, [...INPUT, END]],
    ['output', 0, [...OUTPUT, END]],
    [
      'count',
      0,
      [
        ...[...COUNTER, ...COUNTER, ...LOAD, ...ONE, ADD, ...STORE],
        ...[...OUTPUT, ...INPUT, ...LOAD, ...COUNTER, ...LOAD, ADD, ...STORE],
        ...[...ONE, END],
      ],
    ],
    ['spin', 0, [3, 0x40, 0x0c, 0, 0x0b, 0x41, 0, END]],
  ],
};
/** 66 pages: its blocks are in a table. */
const LARGE: Parts = { ...PARTS, memory: [0, 66] };
const LIMITS: FrameCall = { cpuMs: 20, check: () => {} };

let module: HostModule;
beforeAll(async () => {
  module = await HostModule.compile(moduleOf(PARTS), { memoryBytes: 1 << 20, imports: {} });
});

describe('a module of the gateway', () => {
  it('takes a frame and returns one', async () => {
    const { bytes } = await module.instantiate().call(null, 'count', Buffer.from([40]), LIMITS);
    expect([...bytes]).toEqual([41]);
  });

  it.each([
    ['its memory', PARTS],
    ['a large memory', LARGE],
  ])('keeps %s from call to call only without a snapshot', async (_name, parts) => {
    const compiled = await HostModule.compile(moduleOf(parts), { memoryBytes: 8 << 20, imports: {} });
    const instance = compiled.instantiate();
    const first = async (from: Parameters<typeof instance.call>[0]) =>
      (await instance.call(from, 'count', Buffer.from([10]), LIMITS)).bytes[0];
    expect(await first(null)).toBe(11);
    expect(await first(null)).toBe(12);
    const snapshot = instance.snapshot();
    expect(await first(snapshot)).toBe(13);
    expect(await first(snapshot)).toBe(13);
  });

  it('begins in the state of a snapshot in another instance, too', async () => {
    const instance = module.instantiate();
    await instance.call(null, 'count', Buffer.from([0]), LIMITS);
    const { bytes } = await module.instantiate().call(instance.snapshot(), 'count', Buffer.from([0]), LIMITS);
    expect([...bytes]).toEqual([2]);
  });

  it('ends after its CPU time, while other work goes on', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const running = module.instantiate().call(null, 'spin', new Uint8Array(1), { ...LIMITS, cpuMs: 50 });
    expect(isCpuExceeded(await running.catch((error: unknown) => error))).toBe(true);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  it('ends when its result is no longer wanted', async () => {
    const start = performance.now();
    const check = () => {
      if (performance.now() - start > 5) throw new Error('gone');
    };
    const running = module.instantiate().call(null, 'spin', new Uint8Array(1), { cpuMs: 10_000, check });
    await expect(running).rejects.toThrow('gone');
  });
});
