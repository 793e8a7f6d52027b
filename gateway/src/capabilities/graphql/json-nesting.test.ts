import { describe, expect, it } from 'vitest';
import { MOST_JSON_NESTING, nestsTooDeeply } from './json-nesting.ts';

const arrays = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const objects = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

describe('nesting of JSON', () => {
  it.each([
    ['arrays', arrays],
    ['objects', objects],
  ])('of %s is at most so deep', (_, make) => {
    expect(nestsTooDeeply(make(MOST_JSON_NESTING))).toBe(false);
    expect(nestsTooDeeply(make(MOST_JSON_NESTING + 1))).toBe(true);
    expect(nestsTooDeeply(make(100_000))).toBe(true);
  });

  it('counts what is within each other, not side by side', () => {
    expect(nestsTooDeeply(Array.from({ length: 50_000 }, () => [{}, null, 'x', 1]))).toBe(false);
    expect(nestsTooDeeply([1, [2, objects(MOST_JSON_NESTING)]])).toBe(true);
    expect([null, 1, 'x', true].map(nestsTooDeeply)).toEqual([false, false, false, false]);
  });
});
