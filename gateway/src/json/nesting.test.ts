import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { isNestedWithin, MOST_NESTING, nestsTooDeeply } from './nesting.ts';

const within = (text: string, most: number) => isNestedWithin(Buffer.from(text), most);

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const arrays = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const objects = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
const both = (levels: number): unknown => JSON.parse(`${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`);

describe('nesting of values', () => {
  it.each([
    ['arrays', arrays],
    ['objects', objects],
  ])('of %s is at most so deep', (_, make) => {
    expect(nestsTooDeeply(make(MOST_NESTING))).toBe(false);
    expect(nestsTooDeeply(make(MOST_NESTING + 1))).toBe(true);
    expect(nestsTooDeeply(make(100_000))).toBe(true);
  });

  it('of both is', () => {
    expect(nestsTooDeeply(both(MOST_NESTING))).toBe(false);
    expect(nestsTooDeeply(both(MOST_NESTING + 2))).toBe(true);
    expect(nestsTooDeeply(both(200_000))).toBe(true);
  });

  it('counts what is within each other, not side by side', () => {
    expect(nestsTooDeeply(Array.from({ length: 50_000 }, () => [{}, null, 'x', 1]))).toBe(false);
    expect(nestsTooDeeply(Array.from({ length: 100_000 }, () => ({ a: [null] })))).toBe(false);
    expect(nestsTooDeeply([1, [2, objects(MOST_NESTING)]])).toBe(true);
    expect([null, 1, 'x', true].map(nestsTooDeeply)).toEqual([false, false, false, false]);
  });
});

describe('nesting of JSON', () => {
  it('is counted in objects and lists, and not in text', () => {
    expect(within('[[1],{"a":"[[[[\\"[["}]', 2)).toBe(true);
    expect(within('[[1],{"a":[]}]', 2)).toBe(false);
    expect(within('['.repeat(500_000), 256)).toBe(false);
    expect(within('"no end', 0)).toBe(true);
  });

  it('is that of the value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const [text, depth] = [JSON.stringify(value), depthOf(value)];
        expect([within(text, depth), depth > 0 && within(text, depth - 1)]).toEqual([true, false]);
      }),
      propertyRuns(200),
    );
  });
});
