import { expect, it } from 'vitest';
import { readEscapedNames } from './escaped-names.ts';

it('reads strings of any length', () => {
  const long = 'a'.repeat(30_000_000);
  expect(readEscapedNames(`{"\\u0061":"${long}\\"","b":["\\\\"]}`, false)).toEqual({ a: `${long}"`, b: ['\\'] });
});
