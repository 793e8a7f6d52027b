import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import type { Parameter } from '../../artifact/format.ts';
import { MALFORMED, readPairs, readText, splitCookies, splitQuery } from './styles.ts';
import { readAs } from './text.ts';

const parameter = (given: Partial<Parameter>): Parameter => ({
  name: 'p',
  in: 'query',
  required: false,
  style: 'form',
  explode: true,
  types: ['string'],
  ...given,
});
const array = { types: ['array'], item_types: ['integer'] };
const object = { types: ['object'], property_types: { r: ['integer'], g: ['integer'] } };

describe('query styles (OpenAPI 3.1, 4.8.12)', () => {
  it.each([
    ['form, plain', {}, 'p=a%20b', 'a b'],
    ['form, plus is a space', {}, 'p=a+b', 'a b'],
    ['form, empty', {}, 'p=', ''],
    ['form, integer', { types: ['integer'] }, 'p=42', 42],
    ['form, not an integer stays text', { types: ['integer'] }, 'p=4x', '4x'],
    ['form, boolean', { types: ['boolean'] }, 'p=true', true],
    ['form, twice', {}, 'p=1&p=2', MALFORMED],
    ['form, bad encoding', {}, 'p=%ff', MALFORMED],
    ['form, absent', {}, 'q=1', undefined],
    ['form, array exploded', array, 'p=1&p=2', [1, 2]],
    ['form, array', { ...array, explode: false }, 'p=1,2,3', [1, 2, 3]],
    ['form, array with an encoded comma', { types: ['array'], explode: false }, 'p=a%2Cb,c', ['a,b', 'c']],
    ['form, empty array', { ...array, explode: false }, 'p=', []],
    ['form, object exploded', object, 'r=1&g=2&x=3', { r: 1, g: 2 }],
    ['form, object', { ...object, explode: false }, 'p=r,1,g,2', { r: 1, g: 2 }],
    ['form, odd object', { ...object, explode: false }, 'p=r,1,g', MALFORMED],
    ['form, array given twice', { ...array, explode: false }, 'p=1,2&p=x', MALFORMED],
    ['form, object given twice', { ...object, explode: false }, 'p=r,1&p=r,2', MALFORMED],
    ['form, a member twice', { ...object, explode: false }, 'p=r,1,r,2', MALFORMED],
    ['form, exploded, a member twice', object, 'r=1&r=2', MALFORMED],
    ['content, given twice', { content_type: 'application/json' }, 'p=1&p=2', MALFORMED],
    ['spaceDelimited', { ...array, style: 'spaceDelimited', explode: false }, 'p=1%202+3', [1, 2, 3]],
    ['pipeDelimited', { ...array, style: 'pipeDelimited', explode: false }, 'p=1|2%7C3', [1, 2, 3]],
    ['deepObject', { ...object, style: 'deepObject' }, 'p[r]=1&p[g]=2', { r: '1', g: '2' }],
    ['deepObject, encoded brackets', { style: 'deepObject' }, 'p%5Br%5D=a%20b', { r: 'a b' }],
    ['deepObject, nested', { style: 'deepObject' }, 'p[a][b]=1&p[a][c]=2', { a: { b: '1', c: '2' } }],
    ['deepObject, a list without numbers', { style: 'deepObject' }, 'p[a][]=1', { a: ['1'] }],
    ['deepObject, a list with numbers', { style: 'deepObject' }, 'p[0][a]=1&p[1][a]=2', [{ a: '1' }, { a: '2' }]],
    ['deepObject, without brackets', { style: 'deepObject', types: ['integer', 'object'] }, 'p=5', 5],
    ['deepObject, with and without', { style: 'deepObject' }, 'p[a]=1&p=5', MALFORMED],
    ['deepObject, without and with', { style: 'deepObject' }, 'p=5&p[a]=1', MALFORMED],
    ['deepObject, without, twice', { style: 'deepObject' }, 'p=5&p=6', MALFORMED],
    ['deepObject, not closed', { style: 'deepObject' }, 'p[a=1', MALFORMED],
    ['deepObject, brackets in brackets', { style: 'deepObject' }, 'p[a[b]]=1', MALFORMED],
    ['deepObject, a value and members', { style: 'deepObject' }, 'p[a]=1&p[a][b]=2', MALFORMED],
    ['deepObject, too deep', { style: 'deepObject' }, `p${'[a]'.repeat(17)}=1`, MALFORMED],
    ['deepObject, twice', { ...object, style: 'deepObject' }, 'p[r]=1&p[r]=2', { r: ['1', '2'] }],
    ['content', { content_type: 'application/json' }, 'p=%7B%22a%22:1%7D', { a: 1 }],
    ['content, bad JSON', { content_type: 'application/json' }, 'p=%7B', MALFORMED],
  ] as const)('%s', (_name, given, query, value) => {
    expect(readPairs(parameter(given as Partial<Parameter>), splitQuery(query), true)).toEqual(value);
  });

  it('keeps __proto__ a plain property', () => {
    const value = readPairs(parameter({ ...object, style: 'deepObject' }), splitQuery('p[__proto__]=1'), true);
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['r']).toBeUndefined();
  });
});

describe('path and header styles', () => {
  it.each([
    ['simple', { in: 'path', style: 'simple', explode: false }, 'a%20b', 'a b'],
    ['simple array', { ...array, in: 'path', style: 'simple', explode: false }, '1,2', [1, 2]],
    ['simple object', { ...object, in: 'path', style: 'simple', explode: false }, 'r,1,g,2', { r: 1, g: 2 }],
    ['simple object exploded', { ...object, in: 'path', style: 'simple' }, 'r=1,g=2', { r: 1, g: 2 }],
    ['label', { in: 'path', style: 'label', explode: false }, '.a', 'a'],
    ['label array', { ...array, in: 'path', style: 'label', explode: false }, '.1,2', [1, 2]],
    ['label array exploded', { ...array, in: 'path', style: 'label' }, '.1.2', [1, 2]],
    ['label without dot', { in: 'path', style: 'label' }, 'a', MALFORMED],
    ['matrix', { in: 'path', style: 'matrix', explode: false }, ';p=a', 'a'],
    ['matrix array', { ...array, in: 'path', style: 'matrix', explode: false }, ';p=1,2', [1, 2]],
    ['matrix array exploded', { ...array, in: 'path', style: 'matrix' }, ';p=1;p=2', [1, 2]],
    ['matrix object exploded', { ...object, in: 'path', style: 'matrix' }, ';r=1;g=2', { r: 1, g: 2 }],
    ['matrix object, encoded names', { ...object, in: 'path', style: 'matrix' }, ';%72=1;g=2', { r: 1, g: 2 }],
    ['simple object, encoded names', { ...object, in: 'path', style: 'simple' }, '%72=1,g=2', { r: 1, g: 2 }],
    ['matrix, other name', { in: 'path', style: 'matrix' }, ';q=1', MALFORMED],
  ] as const)('%s', (_name, given, raw, value) => {
    expect(readText(parameter(given as Partial<Parameter>), raw, true)).toEqual(value);
  });

  it('does not decode headers, and trims their lists', () => {
    const header = parameter({ ...array, in: 'header', style: 'simple', explode: false });
    expect(readText(header, '1, 2 ,3', false)).toEqual([1, 2, 3]);
    expect(readText(parameter({ in: 'header', style: 'simple' }), '%41', false)).toBe('%41');
  });
});

it('reads cookies', () => {
  expect(splitCookies('a=1; b="two"; c')).toEqual([
    ['a', '1'],
    ['b', 'two'],
  ]);
});

it('refuses half of a quoted value of a cookie', () => {
  const read = (header: string) => readPairs(parameter({ in: 'cookie' }), splitCookies(header), false);
  expect(read('p="abc; x=1"; d=1')).toBe(MALFORMED);
  expect(read('p="abc"; d=1')).toBe('abc');
  expect(read('p=abc"; d=1')).toBe('abc"');
});

it('decodes cookies in style form, and not in style cookie (OpenAPI 3.2)', () => {
  const cookies = splitCookies('p=%41');
  expect(readPairs(parameter({ in: 'cookie' }), cookies, false)).toBe('A');
  expect(readPairs(parameter({ in: 'cookie', style: 'cookie' }), cookies, false)).toBe('%41');
  expect(readPairs(parameter({ ...array, in: 'cookie', style: 'cookie' }), splitCookies('p=1; p=2'), false)).toEqual([
    1, 2,
  ]);
});

it.each([
  ['1.5e3', ['number'], 1500],
  ['0x10', ['number'], '0x10'],
  ['01', ['integer'], '01'],
  ['', ['null'], null],
  ['null', ['null', 'string'], 'null'],
])('reads %j as %j', (text, types, value) => {
  expect(readAs(text, types)).toEqual(value);
});

it('never throws, whatever the query', () => {
  const styles = fc.constantFrom('form', 'spaceDelimited', 'pipeDelimited', 'deepObject') as fc.Arbitrary<
    Parameter['style']
  >;
  const kind = fc.constantFrom({}, array, object);
  fc.assert(
    fc.property(fc.string(), styles, kind, fc.boolean(), (query, style, given, explode) => {
      readPairs(parameter({ ...given, style, explode }), splitQuery(query), true);
      readText(parameter({ ...given, in: 'path', style: 'matrix', explode }), query, true);
    }),
    propertyRuns(3000),
  );
});
