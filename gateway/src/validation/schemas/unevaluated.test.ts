import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import type { Json } from '../../artifact/format.ts';
import { Schemas } from './schemas.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd');
const leaf = fc.constantFrom<Json>(true, { type: 'integer' }, { type: 'string' });
const named = (of: fc.Arbitrary<Json>) => fc.dictionary(name, of, { maxKeys: 2, noNullPrototype: true });

/** Without `if` and `contains`, whose annotations Ajv's own keywords get wrong. */
function schemaOf(depth: number): fc.Arbitrary<Json> {
  if (depth === 0) return leaf;
  const inner = schemaOf(depth - 1);
  const list = fc.array(inner, { minLength: 1, maxLength: 2 });
  return fc.record(
    {
      properties: named(inner),
      required: fc.uniqueArray(name, { maxLength: 1 }),
      patternProperties: fc.dictionary(fc.constantFrom('^a', '[cd]'), leaf, { maxKeys: 1, noNullPrototype: true }),
      additionalProperties: leaf,
      prefixItems: fc.array(leaf, { minLength: 1, maxLength: 2 }),
      allOf: list,
      anyOf: list,
      oneOf: list,
      not: inner,
      dependentSchemas: named(inner),
      unevaluatedProperties: leaf,
      unevaluatedItems: leaf,
    },
    { requiredKeys: [] },
  );
}
const scalar = fc.constantFrom<Json>(1, 'x', null);
const value = [1, 2].reduce<fc.Arbitrary<Json>>(
  (inner) => fc.oneof(scalar, named(inner), fc.array(inner, { maxLength: 3 })),
  scalar,
);

it('agrees with the keywords of Ajv where those are right', () => {
  const root = fc.tuple(schemaOf(2), leaf, leaf).map(([inner, properties, items]): Json => {
    return { allOf: [inner], unevaluatedProperties: properties === true ? false : properties, unevaluatedItems: items };
  });
  fc.assert(
    fc.property(root, fc.array(value, { minLength: 3, maxLength: 6 }), (given, values) => {
      const ajv = new Ajv2020({ strict: false, ownProperties: true, validateSchema: false, logger: false });
      const theirs = ajv.compile(typeof given === 'object' && given !== null ? { ...given } : {});
      const ours = new Schemas({ s: given }, false).validator({ $ref: 'gw:s' });
      for (const each of values) expect(ours(each) === null, JSON.stringify(each)).toBe(theirs(each));
    }),
    propertyRuns(150),
  );
});
