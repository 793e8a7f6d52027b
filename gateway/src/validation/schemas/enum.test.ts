import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import type { Json } from '../../artifact/format.ts';
import { Schemas } from './schemas.ts';

const scalar = fc.constantFrom<Json>(0, 1, -0, 1.5, '', 'a', '1', true, false, null);
const value = [1, 2].reduce<fc.Arbitrary<Json>>(
  (inner) =>
    fc.oneof(
      scalar,
      fc.array(inner, { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', '[0'), inner, { maxKeys: 2, noNullPrototype: true }),
    ),
  scalar,
);

const ours = (schema: Json) => new Schemas({ s: schema }, false).validator({ $ref: 'gw:s' });

describe('a value', () => {
  it('is one of a list if it is for Ajv', () => {
    const lists = fc.array(value, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(lists, fc.array(value, { minLength: 4, maxLength: 8 }), (list, values) => {
        const theirs = new Ajv2020({ strict: false }).compile({ enum: list });
        const validate = ours({ enum: list });
        for (const each of [...values, ...list])
          expect(validate(each) === null, JSON.stringify(each)).toBe(theirs(each));
      }),
      propertyRuns(200),
    );
  });

  it('is repeated in a list if it is for Ajv', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 8 }), (items) => {
        const theirs = new Ajv2020({ strict: false }).compile({ uniqueItems: true });
        expect(ours({ uniqueItems: true })(items) === null, JSON.stringify(items)).toBe(theirs(items));
      }),
      propertyRuns(200),
    );
  });

  it('is none of an empty list', () => {
    expect(ours({ enum: [] })(1)).toHaveLength(1);
  });

  it('of a long list is told which ones are allowed', () => {
    const list = Array.from({ length: 30 }, (_, i) => `v${i}`);
    expect(ours({ enum: list })('v30')).toMatchObject([{ keyword: 'enum', params: { allowedValues: list } }]);
  });
});
