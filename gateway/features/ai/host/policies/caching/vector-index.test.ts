import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../../test/property-runs.ts';
import { decodeIndex, encodeIndex, normalise, similarTo } from './vector-index.ts';

const vector = (...numbers: number[]) => Float32Array.from(normalise(numbers) ?? []);

describe('an index of questions', () => {
  it('is what it was when it comes out of the store, whatever its keys', () => {
    const size = fc.integer({ min: 1, max: 9 });
    const index = size.chain((length) =>
      fc.array(
        fc.record({
          key: fc.string(),
          until: fc.nat(),
          vector: fc.float32Array({ minLength: length, maxLength: length, noNaN: true }),
        }),
        { minLength: 1, maxLength: 9 },
      ),
    );
    fc.assert(
      fc.property(index, (questions) => {
        expect(decodeIndex(encodeIndex(questions))).toEqual(questions);
      }),
      propertyRuns(100),
    );
  });

  it('is empty where whoever can write to the store has written something else', () => {
    const good = encodeIndex([{ key: 'a', until: 1, vector: vector(1, 2) }]);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(decodeIndex(bytes)).toEqual([]);
      }),
      propertyRuns(300),
    );
    for (let length = 0; length < good.length; length++) expect(decodeIndex(good.subarray(0, length))).toEqual([]);
    expect(decodeIndex(null)).toEqual([]);
  });

  it('has those that are near, the nearest first, and none whose time is up', () => {
    const questions = [
      { key: 'same', until: 10, vector: vector(1, 0) },
      { key: 'near', until: 10, vector: vector(1, 0.1) },
      { key: 'far', until: 10, vector: vector(0, 1) },
      { key: 'old', until: 5, vector: vector(1, 0) },
      { key: 'of another model', until: 10, vector: vector(1, 0, 0) },
    ];
    const found = similarTo(vector(2, 0), questions, { threshold: 0.9, now: 5 });
    expect(found.map(({ key }) => key)).toEqual(['same', 'near']);
  });

  it.each([[[0, 0]], [[Number.NaN]], [[Number.POSITIVE_INFINITY]], [[1e300, 1e300]]])(
    'has no vector of %j',
    (numbers) => {
      const found = normalise(numbers);
      expect(found === null || found.every((each) => Number.isFinite(each))).toBe(true);
    },
  );

  it('has no vector that is longer than 1, however small its numbers', () => {
    const numbers = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e-300, max: 1e-300 }), {
      minLength: 1,
      maxLength: 9,
    });
    const isShort = (found: Float32Array | null) => found === null || Math.hypot(...found) < 1.0001;
    expect(isShort(normalise([5e-324, 5e-324]))).toBe(true);
    fc.assert(
      fc.property(numbers, (each) => isShort(normalise(each))),
      propertyRuns(300),
    );
  });
});
