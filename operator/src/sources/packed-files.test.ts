import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { joinParts, unpackGzipped } from './packed-files.ts';

const files = (entries: Record<string, string | Uint8Array>) =>
  new Map(Object.entries(entries).map(([name, content]) => [name, Buffer.from(content)]));
const texts = (found: ReadonlyMap<string, Uint8Array>) =>
  Object.fromEntries([...found].map(([name, bytes]) => [name, Buffer.from(bytes).toString()]));

describe('files in the keys of ConfigMaps', () => {
  it('are put together from their parts, in the order of the numbers', () => {
    const parts = files({ 'a.part10': 'k', 'a.part02': 'c', 'a.part0': 'a', 'a.part1': 'b', whole: 'w' });
    const more = files({ ...Object.fromEntries([3, 4, 5, 6, 7, 8, 9].map((n) => [`a.part${n}`, `${n}`])) });
    expect(texts(joinParts(new Map([...parts, ...more])))).toEqual({ whole: 'w', a: 'abc3456789k' });
  });

  it.each([
    ['lack a part', { 'a.part0': '', 'a.part2': '' }, 'part 1 of "a" is missing'],
    ['begin late', { 'a.part1': '' }, 'part 0 of "a" is missing'],
    ['have a part twice', { 'a.part1': '', 'a.part01': '' }, 'part 1 of "a" exists twice'],
    ['are there whole and in parts', { a: '', 'a.part0': '' }, 'both exist'],
  ])('that %s are refused', (_, entries, message) => {
    expect(() => joinParts(files(entries))).toThrow(message);
  });

  it('are the same cut anywhere, gzipped or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), fc.integer({ min: 1, max: 300 }), async (bytes, size) => {
        const packed = gzipSync(bytes);
        const count = Math.ceil(packed.length / size);
        const entries = new Map(
          Array.from(
            { length: count },
            (_, i) => [`f.gz.part${i}`, packed.subarray(i * size, (i + 1) * size)] as const,
          ),
        );
        const found = await unpackGzipped(joinParts(entries));
        expect([...found.keys()]).toEqual(['f']);
        expect(Buffer.from(found.get('f') ?? '').equals(Buffer.from(bytes))).toBe(true);
      }),
      propertyRuns(50),
    );
  });

  it('that unpack to more than a project may hold are refused, all together', async () => {
    const large = gzipSync(Buffer.alloc(33 << 20));
    await expect(unpackGzipped(new Map([['a.gz', large]]))).resolves.toBeDefined();
    const both = new Map([
      ['a.gz', large],
      ['b.gz', large],
    ]);
    await expect(unpackGzipped(both)).rejects.toThrow('key "b.gz" cannot be unpacked');
    await expect(unpackGzipped(files({ 'c.gz': 'no gzip' }))).rejects.toThrow('key "c.gz" cannot be unpacked');
  });
});
