import { expect, it } from 'vitest';
import type { Json } from '../artifact/format.ts';
import { Schemas } from './schemas.ts';

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
