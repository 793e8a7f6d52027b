/** Beside sums of fractions of whole numbers, which are exact. */
import { describe, expect, it } from 'vitest';
import { chanceBeside, chanceOf, chanceTogether } from './significance.ts';

const of = (bad: number, requests: number) => ({ bad, requests });

describe('chance', () => {
  it.each([
    [of(3, 4), of(1, 4), 0.24285714285714285],
    [of(5, 5), of(0, 200), 3.481398619629834e-10],
    [of(0, 10), of(5, 10), 1],
    [of(8, 20), of(2, 30), 0.005842959566193289],
    [of(10, 1000), of(100, 10_000), 0.5486719860986166],
  ])('of %o beside %o', (its, others, expected) => {
    const got = chanceBeside(its, others);
    expect(got / expected).toBeCloseTo(1, 3);
  });

  it.each([
    [of(5, 100), 0.01, 0.003432321587754515],
    [of(5, 5), 0.01, 1e-10],
    [of(0, 100), 0.01, 1],
    [of(1, 100), 0, 0],
    [of(5, 10), 1, 1],
  ])('of %o where a share of %d is expected', (its, share, expected) => {
    expect(chanceOf(its, share)).toBeCloseTo(expected, 6);
  });

  it('of kinds together compares each with its own', () => {
    // One kind always fails, and the canary has more of it: that is no difference.
    expect(
      chanceTogether([
        [of(90, 90), of(10, 10)],
        [of(0, 10), of(0, 900)],
      ]),
    ).toBe(1);
    const many = Array.from({ length: 20 }, () => [of(2, 10), of(1, 90)] as const);
    expect(chanceTogether(many)).toBeLessThan(1e-9);
    expect(chanceTogether([])).toBe(1);
  });
});
