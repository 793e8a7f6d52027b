import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { isNestedWithin } from './nesting.ts';

const within = (text: string, most: number) => isNestedWithin(Buffer.from(text), most);

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

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
