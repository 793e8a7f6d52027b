import { expect, it } from 'vitest';
import { covers } from './subject-stream.ts';

it.each([
  ['a', 'a', true],
  ['a', 'b', false],
  ['a.b', 'a', false],
  ['a', 'a.b', false],
  ['a.*', 'a.b', true],
  ['a.*', 'a.*', true],
  ['a.b', 'a.*', false],
  ['*.b', 'a.b', true],
  ['a.*', 'a.b.c', false],
  ['a.>', 'a.b.c', true],
  ['a.>', 'a.>', true],
  ['a.>', 'a', false],
  ['a.*', 'a.>', false],
  ['>', 'a', true],
  ['>', '>', true],
])('%s covers %s: %s', (other, pattern, expected) => {
  expect(covers(other, pattern)).toBe(expected);
});
