import { describe, expect, it } from 'vitest';
import { alphabetOf } from './alphabet.ts';

const DIGITS = [0x30, 0x39];

describe('the alphabet of a pattern', () => {
  it.each([
    ['^\\d+$', [DIGITS]],
    ['^[0-9]{2}(?:-[0-9])?$', [DIGITS, [0x2d, 0x2d], DIGITS]],
    ['^a|b$', null],
    ['^a$|^b$', [[0x61, 0x61], [0x62, 0x62]]], // biome-ignore format: one case a line
    ['^(?=.*x)(\\d)\\1$', [DIGITS]],
    ['\\d+', null],
    ['^\\d+', null],
    ['^(?i:a)$', null],
    ['^\\p{L}$', null],
    ['^(', null],
  ])('%s', (pattern, ranges) => {
    expect(alphabetOf(pattern)).toEqual(ranges);
  });

  it('has all characters but line ends for a dot', () => {
    expect(alphabetOf('^.$')?.[0]).toEqual([0, 9]);
  });
});
