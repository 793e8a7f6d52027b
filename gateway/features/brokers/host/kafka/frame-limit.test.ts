import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { FrameLimit } from './frame-limit.ts';

function frame(length: number, bytes = length): Buffer {
  const head = Buffer.alloc(4);
  head.writeInt32BE(length);
  return Buffer.concat([head, Buffer.alloc(bytes)]);
}

/** Whether all pieces pass. */
function pass(stream: Buffer, size: number): boolean {
  const limit = new FrameLimit();
  for (let at = 0; at < stream.length; at += size) if (!limit.admits(stream.subarray(at, at + size))) return false;
  return true;
}

it('admits frames of 4 bytes to 16 MiB, however they are cut, and none that announces less or more', () => {
  const property = fc.property(
    fc.array(fc.integer({ min: 4, max: 300 }), { maxLength: 8 }),
    fc.integer({ min: 1, max: 50 }),
    (lengths, size) => {
      const good = Buffer.concat(lengths.map((length) => frame(length)));
      expect(pass(good, size)).toBe(true);
      expect(pass(Buffer.concat([good, frame(0x7fffffff, 10)]), size)).toBe(false);
      for (const wrong of [frame(-1, 0), frame(0), frame(3)])
        expect(pass(Buffer.concat([good, wrong]), size)).toBe(false);
    },
  );
  fc.assert(property, propertyRuns(100));
  expect(pass(frame(16 << 20), 1 << 20)).toBe(true);
  expect(pass(frame((16 << 20) + 1, 0), 4)).toBe(false);
});
