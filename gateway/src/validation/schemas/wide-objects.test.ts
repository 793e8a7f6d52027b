import { describe, expect, it } from 'vitest';
import type { Json } from '../../spec/json.ts';
import { Schemas } from './schemas.ts';

const REF = { $ref: 'gw:root' };
const properties = (count: number, schema: Json): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, schema]));

describe.each([false, true])('an object of 2,500 properties (all errors: %j)', (verbose) => {
  const errorsOf = (root: Json, value: Json) => new Schemas({ root }, verbose).validator(REF)(value);

  it('is checked, each member by its schema', () => {
    const root = { type: 'object', properties: properties(2_500, { type: 'string' }) };
    expect(errorsOf(root, { p0: 'a', p2499: 'b' })).toBeNull();
    expect(errorsOf(root, { p2321: 1 })).toMatchObject([{ instancePath: '/p2321', keyword: 'type' }]);
  });

  it.each(['additionalProperties', 'unevaluatedProperties'])('admits no other where %s is false', (keyword) => {
    const root = { properties: properties(2_500, {}), allOf: [{ required: ['p1'] }], [keyword]: false };
    expect(errorsOf(root, { p1: 1, p2499: 2 })).toBeNull();
    expect(errorsOf(root, { p1: 1, other: 2 })).toMatchObject([{ keyword }]);
    expect(errorsOf(root, { p2: 1 })).toMatchObject([{ keyword: 'required' }]);
  });

  it('may stand in another', () => {
    const wide = { type: 'object', properties: properties(2_500, { type: 'integer' }) };
    const root = { type: 'array', items: { anyOf: [wide, { type: 'null' }] } };
    expect(errorsOf(root, [null, { p3: 3 }])).toBeNull();
    expect(errorsOf(root, [{ p3: 'three' }])).not.toBeNull();
  });
});
