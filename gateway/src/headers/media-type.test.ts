import { expect, it } from 'vitest';
import { covers, isJson, isUtf8, mediaTypeOf, parametersOf } from './media-type.ts';

it.each([
  ['text/plain', {}],
  ['text/plain;', {}],
  ['text/plain; charset=UTF-8 ; q="a b"', { charset: 'UTF-8', q: 'a b' }],
  ['a/b; x=1; X=2', null],
  ['a/b; x="1', null],
  ['a/b; x="a\\"b"', null],
  ['a/b; x', null],
])('reads the parameters of %j', (header, wanted) => {
  const found = parametersOf(header);
  expect(found && Object.fromEntries(found)).toEqual(wanted);
});

it('knows JSON, UTF-8 and ranges', () => {
  expect(['application/json', 'application/problem+json', 'text/jsonp'].map(isJson)).toEqual([true, true, false]);
  expect(mediaTypeOf('Text/HTML ; charset=x')).toBe('text/html');
  expect([undefined, 'a/b', 'a/b;charset="utf-8"', 'a/b; charset=latin1', 'a/b; charset'].map(isUtf8)).toEqual([
    ...[true, true, true],
    ...[false, false],
  ]);
  expect([covers('*/*', 'a/b'), covers('a/*', 'a/b'), covers('a/*', 'ab/c'), covers('a/b', 'a/bc')]).toEqual([
    ...[true, true],
    ...[false, false],
  ]);
});
