import { expect, it } from 'vitest';
import { isTooDeep, MAX_DEPTH } from './json-depth.ts';

const nested = (levels: number): unknown => JSON.parse(`${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`);

it('JSON is too deep past its limit, however wide it is', () => {
  expect(isTooDeep(nested(MAX_DEPTH))).toBe(false);
  expect(isTooDeep(nested(MAX_DEPTH + 2))).toBe(true);
  expect(isTooDeep(nested(200_000))).toBe(true);
  expect(isTooDeep(Array.from({ length: 100_000 }, () => ({ a: [null] })))).toBe(false);
  expect(isTooDeep('text')).toBe(false);
});
