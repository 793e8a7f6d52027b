import { expect, it } from 'vitest';
import { nearestNames } from './nearest-names.ts';

const NAMES = ['getBook', 'listBooks', 'addBook', 'deleteBook', 'health'];

it.each([
  ['getbook', ['getBook']],
  ['getBok', ['getBook']],
  ['listBook', ['listBooks', 'getBook']],
  ['Book', ['getBook', 'listBooks', 'addBook']],
  ['helth', ['health']],
  ['zzzzz', []],
])('of %s offers %j', (name, offered) => {
  expect(nearestNames(name, NAMES)).toEqual(offered);
});

it('has its answer soon, however long names are', () => {
  const names = Array.from({ length: 1000 }, (_, i) => `${'x'.repeat(100_000)}${i}`);
  expect(nearestNames('y'.repeat(100_000), names)).toEqual([]);
});
