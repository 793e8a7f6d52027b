import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChurningMap, Counts } from './churning-map.ts';

describe('ChurningMap', () => {
  it('has what a Map has', () => {
    const step = fc.tuple(fc.nat(200), fc.option(fc.nat(5)));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
        const [map, expected] = [new ChurningMap<number, number>(), new Map<number, number>()];
        for (const [key, value] of steps) {
          if (value === null) map.delete(key);
          else map.set(key, value);
          if (value === null) expected.delete(key);
          else expected.set(key, value);
          expect(map.size).toBe(expected.size);
          expect(map.get(key)).toBe(expected.get(key));
          expect(map.has(key)).toBe(expected.has(key));
        }
        expect(new Map(map)).toEqual(expected);
      }),
    );
  });
});

describe('Counts', () => {
  it('leaves out keys whose count is zero', () => {
    const counts = new Counts<string>();
    counts.add('a', 1);
    counts.add('a', 1);
    counts.add('b', 1);
    counts.add('b', -1);
    expect([...counts]).toEqual([['a', 2]]);
    expect(counts.size).toBe(1);
  });
});
