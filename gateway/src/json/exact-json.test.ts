/** Numbers that JavaScript cannot hold (docs/mcp.md#calls). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { isWrittenNumber, mayBeInexact, numberText, parseExactly, plainNumber } from './exact-json.ts';
import { parseAsWritten } from './parse-as-written.ts';
import { parseOnceExactly } from './parse-once.ts';

const exactOf = (text: string) => JSON.stringify(parseOnceExactly(Buffer.from(text)).exact);

const number = fc.stringMatching(/^-?(0|[1-9]\d{0,25})(\.\d{1,25})?([eE][+-]?\d{1,3})?$/);
const text = fc.oneof(fc.string(), fc.constantFrom('v1.0', '\\', '"', '\\"', '1e5', '{"a":1.0}'));

describe('a number that is passed on', () => {
  it('keeps every digit, between whatever texts', () => {
    fc.assert(
      fc.property(fc.array(number), text, text, (numbers, name, value) => {
        const inner = `{${JSON.stringify(name)}:[${numbers.join(',')}],"other":${JSON.stringify(value)}}`;
        for (const written of [...numbers, `[${inner}]`, inner]) {
          expect(JSON.stringify(parseAsWritten(written))).toBe(written);
        }
        for (const each of numbers) expect(plainNumber(parseAsWritten(each))).toBe(Number(each));
      }),
      propertyRuns(500),
    );
  });

  it.each(['-0', '0.0', '1.0', '0.10', '0.0000001', '1e2', '1E400', '12345678901234567', '0.30000000000000004'])(
    'keeps %s',
    (written) => {
      for (const around of ['?', '[?]', '{"a":?}', '{"a":"\\\\","b":[1,?]}']) {
        const json = around.replace('?', written);
        expect(JSON.stringify(parseAsWritten(json))).toBe(json);
      }
    },
  );
});

describe('a text', () => {
  it('may have an inexact number exactly if it has sixteen digits and points in a row, or an exponent', () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.stringMatching(/^[0-9.]{0,20}$/),
      fc.constantFrom('1e5', '1E-3', 'e', '1234567890123456', '123456789012345'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const joined = pieces.join('');
        expect(mayBeInexact(joined)).toBe(/[.\d]{16}|\d[eE][-+\d]/.test(joined));
      }),
      propertyRuns(2000),
    );
  });
});

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
