import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { isMultipleOf } from './number-keywords.ts';
import { Schemas } from './schemas.ts';

describe('a multiple', () => {
  it.each([
    [19.99, 0.01],
    [0.07, 0.01],
    [0.29, 0.01],
    [4.35, 0.01],
    [-4.35, 0.05],
    [0, 0.1],
    [1e21, 3e20 / 3],
    [1e300, 1e-7],
    [1e-7, 1e-8],
    [1.5, 0.5],
    [300, 1.5],
  ])('%d is one of %d', (value, divisor) => {
    expect(isMultipleOf(value, divisor)).toBe(true);
  });

  it.each([
    [1.005, 0.01],
    [0.075, 0.01],
    [7, 2],
    [1e-8, 1e-7],
    [1e-300, 0.01],
    [Number.POSITIVE_INFINITY, 1],
  ])('%d is none of %d', (value, divisor) => {
    expect(isMultipleOf(value, divisor)).toBe(false);
  });

  it('is one if the digits say so, however many are behind the point', () => {
    const digits = fc.integer({ min: -1e9, max: 1e9 });
    fc.assert(
      fc.property(digits, fc.integer({ min: 1, max: 1e4 }), fc.integer({ min: 0, max: 6 }), (value, divisor, scale) => {
        const at = (whole: number) => Number(`${whole}e-${scale}`);
        expect(isMultipleOf(at(value), at(divisor))).toBe(value % divisor === 0);
      }),
      propertyRuns(500),
    );
  });

  it('is told as Ajv tells it', () => {
    const validate = new Schemas({ s: { multipleOf: 0.01 } }, false).validator({ $ref: 'gw:s' });
    expect(validate(19.99)).toBeNull();
    expect(validate(1.005)).toMatchObject([{ keyword: 'multipleOf', message: 'must be multiple of 0.01' }]);
  });
});
