/** Numbers that JavaScript cannot hold (docs/mcp.md#calls). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { isWrittenNumber, numberText, parseExactly } from './exact-json.ts';
import { parseOnceExactly } from './parse-once.ts';

const exactOf = (text: string) => JSON.stringify(parseOnceExactly(Buffer.from(text)).exact);

describe('a number', () => {
  it('of any digits stays as it was written, also below names that are escaped', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 10n ** 17n }), fc.bigInt({ min: 1n }), (whole, fraction) => {
        for (const number of [`${whole}`, `-${whole}.${fraction}`, `${whole}e-${fraction % 400n}`]) {
          expect(exactOf(`{"a":[{"b":${number}}]}`)).toBe(`{"a":[{"b":${number}}]}`);
          expect(exactOf(`{"\\u0061":[{"b\\n":${number}}]}`)).toBe(`{"a":[{"b\\n":${number}}]}`);
        }
      }),
      propertyRuns(300),
    );
  });

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['-12345678901234567890', '-12345678901234567890'],
    ['1000000000000000000000', '1000000000000000000000'],
    ['1e3', '1000'],
    ['1.50E2', '150'],
    ['0e10', '0'],
    ['1e21', '1e+21'],
    ['1e400', '1e400'],
    ['1e-400', '1e-400'],
    ['0.1000000000000000055', '0.1000000000000000055'],
    ['0.10000000000000000', '0.1'],
    ['1.0000000000000000', '1'],
    ['3.14159265358979323846', '3.14159265358979323846'],
    [`1${'0'.repeat(200_000)}1`, `1${'0'.repeat(200_000)}1`],
    [`1.${'0'.repeat(200_000)}1`, `1.${'0'.repeat(200_000)}1`],
  ])('%s outside JSON has the same value', (written, text) => {
    const value = parseExactly(written);
    expect(isWrittenNumber(value) ? numberText(value) : String(value)).toBe(text);
  });
});
