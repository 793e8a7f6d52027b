import { expect, it } from 'vitest';
import { inTime } from '../../../../test/time-limit.ts';
import type { Json } from '../../artifact/format.ts';
import { describeErrors, Schemas } from './schemas.ts';

const holds = (schema: Json, value: unknown) =>
  new Schemas({ s: schema }, false).validator({ $ref: 'gw:s' })(value) === null;

it('tells patterns apart', () => {
  const schema = { properties: { a: { pattern: '^x$' }, b: { pattern: '^y$' }, c: { pattern: '^(?=z)z$' } } };
  expect(holds(schema, { a: 'x', b: 'y', c: 'z' })).toBe(true);
  expect(holds(schema, { a: 'x', b: 'x' })).toBe(false);
  expect(holds(schema, { a: 'y' })).toBe(false);
  const names = { patternProperties: { '^a': { type: 'integer' }, '^b': { type: 'string' } } };
  expect(holds(names, { a1: 1, b1: 'x' })).toBe(true);
  expect(holds(names, { b1: 1 })).toBe(false);
});

it('does not take what objects inherit for properties', () => {
  expect(holds({ required: ['toString'] }, {})).toBe(false);
  expect(
    holds(
      { required: ['constructor'], properties: { constructor: { type: 'integer' } } },
      JSON.parse('{"constructor":1}'),
    ),
  ).toBe(true);
});

it('matches hostile text in linear time', () => {
  expect(inTime(() => holds({ pattern: '^(a+)+$' }, `${'a'.repeat(20_000)}!`))).toBe(false);
});

it('finds equal items of long lists in linear time', () => {
  const scalars = Array.from({ length: 150_000 }, (_, i) => i);
  const objects = scalars.slice(0, 40_000).map((i) => ({ i, of: ['a'] }));
  inTime(() => {
    expect(holds({ uniqueItems: true }, scalars)).toBe(true);
    expect(holds({ uniqueItems: true }, [...scalars, 7])).toBe(false);
    expect(holds({ uniqueItems: true }, objects)).toBe(true);
    expect(holds({ uniqueItems: true }, [...objects, { of: ['a'], i: 7 }])).toBe(false);
  }, 2000);
});

it('tells items apart as JSON does', () => {
  expect(holds({ uniqueItems: true }, [1, '1', true, 'true', null, 'null', {}, '{}', [], '[]', [1], ['1']])).toBe(true);
  expect(holds({ uniqueItems: true }, [0, -0])).toBe(false);
  expect(holds({ uniqueItems: true }, [[{ a: 1, b: 2 }], [{ b: 2, a: 1 }]])).toBe(false);
  expect(holds({ uniqueItems: false }, [1, 1])).toBe(true);
  expect(holds({ uniqueItems: true }, 'aa')).toBe(true);
});

it('judges unevaluated properties of nested values in reasonable time', () => {
  const branch = { properties: { next: { $ref: 'gw:s' } } };
  const schema = { type: 'object', anyOf: [branch], unevaluatedProperties: false };
  const nested = (depth: number, last: object): object => (depth === 0 ? last : { next: nested(depth - 1, last) });
  inTime(() => {
    expect(holds(schema, nested(300, {}))).toBe(true);
    expect(holds(schema, nested(300, { more: 1 }))).toBe(false);
  }, 1000);
});

it('tells which property was not evaluated', () => {
  const schema = { allOf: [{ properties: { a: {} } }], unevaluatedProperties: { type: 'integer' } };
  const errors = new Schemas({ s: schema }, true).validator({ $ref: 'gw:s' })({ a: 'x', b: 1, c: 'x' });
  expect(describeErrors(errors ?? [], 'body', '')).toEqual([
    { in: 'body', field: '/', reason: 'must NOT have unevaluated properties: "c"' },
  ]);
});
