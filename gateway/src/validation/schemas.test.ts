import { expect, it } from 'vitest';
import type { Json } from '../artifact/format.ts';
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
  const from = performance.now();
  expect(holds({ pattern: '^(a+)+$' }, `${'a'.repeat(20_000)}!`)).toBe(false);
  expect(performance.now() - from).toBeLessThan(500);
});

it('judges unevaluated properties of nested values in reasonable time', () => {
  const branch = { properties: { next: { $ref: 'gw:s' } } };
  const schema = { type: 'object', anyOf: [branch], unevaluatedProperties: false };
  const nested = (depth: number, last: object): object => (depth === 0 ? last : { next: nested(depth - 1, last) });
  const from = performance.now();
  expect(holds(schema, nested(300, {}))).toBe(true);
  expect(holds(schema, nested(300, { more: 1 }))).toBe(false);
  expect(performance.now() - from).toBeLessThan(1000);
});

it('tells which property was not evaluated', () => {
  const schema = { allOf: [{ properties: { a: {} } }], unevaluatedProperties: { type: 'integer' } };
  const errors = new Schemas({ s: schema }, true).validator({ $ref: 'gw:s' })({ a: 'x', b: 1, c: 'x' });
  expect(describeErrors(errors ?? [], 'body', '')).toEqual([
    { in: 'body', field: '/', reason: 'must NOT have unevaluated properties: "c"' },
  ]);
});
