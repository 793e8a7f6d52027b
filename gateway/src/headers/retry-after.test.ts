import { expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

it.each([
  ['0', 0],
  ['7', 7000],
  ['1000000000000', 86_400_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['Fri, 01 Jan 9999 00:00:00 GMT', 86_400_000],
  [undefined, null],
  ['', null],
  ['-1', null],
  ['1.5', null],
  ['soon 1', null],
  ['2030-01-01', null],
  ['Xyz, 99 Abc 2030 00:00:00 GMT', null],
])('%s is %s ms', (value, ms) => {
  expect(retryAfterMs(value)).toBe(ms);
});
