import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteCollector } from './byte-collector.ts';

describe('collector of bytes', () => {
  it('gives back what was added, in its order, and is empty then', () => {
    const piece = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ minLength: 1000, maxLength: 1100 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.boolean(), (pieces, whole) => {
        const collector = new ByteCollector();
        for (const each of pieces) collector.add(each);
        const expected = Buffer.concat(pieces);
        expect(collector.length).toBe(expected.length);
        const taken = whole ? collector.takeWhole() : Buffer.concat(collector.take());
        expect(taken.equals(expected)).toBe(true);
        expect(collector.length).toBe(0);
        collector.add(Buffer.from('again'));
        expect(collector.takeWhole().toString()).toBe('again');
      }),
    );
  });

  it('keeps a million pieces of one byte in a few dozen buffers', () => {
    const collector = new ByteCollector();
    for (let i = 0; i < 1_000_000; i++) collector.add(Buffer.from([i & 0xff]));
    expect(collector.take().length).toBeLessThan(64);
  });

  it('does not copy a piece that is alone, or long', () => {
    const collector = new ByteCollector();
    const alone = Buffer.from('alone');
    collector.add(alone);
    expect(collector.takeWhole()).toBe(alone);
    const long = Buffer.alloc(5000, 1);
    collector.add(alone);
    collector.add(long);
    expect(collector.take()).toEqual([alone, long]);
  });
});
