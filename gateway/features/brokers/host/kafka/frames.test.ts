import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { Frames } from './frames.ts';

function frame(length: number, bytes = length): Buffer {
  const head = Buffer.alloc(4);
  head.writeInt32BE(length);
  return Buffer.concat([head, Buffer.alloc(bytes, length & 0xff)]);
}

/** Lengths of the frames in a stream that comes in pieces of `size`; null if it is refused. */
function lengths(stream: Buffer, size: number): number[] | null {
  const frames = new Frames(() => true);
  const found: number[] = [];
  try {
    for (let at = 0; at < stream.length; at += size)
      for (const each of frames.add(stream.subarray(at, at + size))) found.push(each.length);
  } catch {
    return null;
  }
  return found;
}

it('admits frames of 4 bytes to 16 MiB, however they are cut, and none that announces less or more', () => {
  const property = fc.property(
    fc.array(fc.integer({ min: 4, max: 300 }), { maxLength: 8 }),
    fc.integer({ min: 1, max: 50 }),
    (sent, size) => {
      const good = Buffer.concat(sent.map((length) => frame(length)));
      expect(lengths(good, size)).toEqual(sent);
      expect(lengths(Buffer.concat([good, frame(0x7fffffff, 10)]), size)).toBe(null);
      for (const wrong of [frame(-1, 0), frame(0), frame(3)])
        expect(lengths(Buffer.concat([good, wrong]), size)).toBe(null);
    },
  );
  fc.assert(property, propertyRuns(100));
  expect(lengths(frame(16 << 20), 1 << 20)).toEqual([16 << 20]);
  expect(lengths(frame((16 << 20) + 1, 0), 4)).toBe(null);
});
