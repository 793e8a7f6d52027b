/** What validating takes is bounded, whatever the schemas refer to (docs/decisions.md#validation-bounded). */
import { describe, expect, it } from 'vitest';
import { StepBudget, StepsExceeded, TimeExceeded } from '../../patterns/step-budget.ts';
import type { Json, JsonObject } from '../../spec/json.ts';
import { Schemas } from './schemas.ts';

const ref = (id: string) => ({ $ref: `gw:${id}` });

/** Steps that validating took; null where it was stopped. */
function stepsOf(table: JsonObject, value: Json, verbose = false): number | null {
  const steps = new StepBudget(1_000_000);
  steps.begin(0, JSON.stringify(value).length);
  try {
    new Schemas(table, verbose, steps).validator(ref('root'))(value);
    return steps.used;
  } catch (error) {
    if (!(error instanceof StepsExceeded)) throw error;
    return null;
  }
}

const branch = (op: Json): Json => ({
  type: 'object',
  required: ['child', 'op'],
  properties: { child: ref('root'), op },
});
/** What tells branches apart is looked at last. */
const binary = (op: string): Json => branch({ allOf: [{ const: op }] });

function nested(depth: number): Json {
  let value: Json = 1;
  for (let i = 0; i < depth; i++) value = { child: value, op: 'or' };
  return value;
}

describe.each([false, true])('a validation (all errors: %j)', (verbose) => {
  it.each(['anyOf', 'oneOf'])('is stopped where %s tries two branches at each level', (keyword) => {
    const root = { [keyword]: [binary('and'), binary('or'), { type: 'string' }] };
    expect(stepsOf({ root }, nested(40), verbose)).toBeNull();
    expect(stepsOf({ root }, nested(8), verbose)).toBeLessThan(100_000);
  });

  it('is stopped where schemas refer to the next one twice', () => {
    const chain = Array.from({ length: 40 }, (_, i): [string, Json] => {
      return [i === 0 ? 'root' : `f${i}`, { allOf: [ref(`f${i + 1}`), ref(`f${i + 1}`)] }];
    });
    expect(stepsOf(Object.fromEntries([...chain, ['f40', { type: 'integer' }]]), 1, verbose)).toBeNull();
  });

  it('goes through a long list of objects that refer to others', () => {
    const root = { type: 'array', items: ref('pet') };
    const pet = { type: 'object', properties: { owner: ref('owner'), tags: { type: 'array', items: ref('tag') } } };
    const owner = { anyOf: [{ type: 'null' }, ref('person')] };
    const person = { type: 'object', required: ['name'], properties: { name: ref('tag') } };
    const value = Array.from({ length: 20_000 }, () => ({ owner: { name: 'a' }, tags: ['b', 'c', 'd'] }));
    expect(stepsOf({ root, pet, owner, person, tag: { type: 'string' } }, value, verbose)).not.toBeNull();
  });
});

describe('a validation that ends at the first error', () => {
  it.each<[string, Json, Json]>([
    ['a constant', { const: 'and' }, { const: 'or' }],
    ['an enumeration', { enum: ['and', 'all'] }, { enum: ['or', 'any'] }],
    ['a reference to a constant', ref('and'), ref('or')],
  ])('goes into one of two branches that %s tells apart, whatever its name', (_, and, or) => {
    const root = { oneOf: [branch(and), branch(or), { type: 'integer' }] };
    expect(stepsOf({ root, and: { const: 'and' }, or: { const: 'or' } }, nested(200))).toBeLessThan(200_000);
  });
});

const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));

/** Schemas that people write, each with a value that takes long to validate. */
const HOSTILE: readonly (readonly [what: string, table: JsonObject, value: Json])[] = [
  [
    'unique items on many levels',
    { root: { properties: { id: true, in: { type: 'array', uniqueItems: true, items: ref('root') } } } },
    list(60, () => null).reduce<Json>((inner) => ({ in: [inner] }), { in: list(20_000, (id) => ({ id })) }),
  ],
  [
    'an enumeration of objects',
    { root: { items: { enum: list(300, (id) => ({ id, of: { name: `n${id}` } })) } } },
    list(20_000, () => ({ id: 299, of: { name: 'n299' } })),
  ],
  [
    'many patterns for names',
    { root: { patternProperties: Object.fromEntries(list(20, (i) => [`^(?:a|b)*x{${i}}c`, { type: 'integer' }])) } },
    Object.fromEntries(list(20_000, (i) => [`abababab${i}`, 1])),
  ],
  [
    'a pattern of many states',
    { root: { items: { type: 'string', pattern: 'a[ab]{700}c' } } },
    list(2_000, () => `${'ab'.repeat(100)}c`),
  ],
  [
    'a long text for a pattern of many states',
    { root: { type: 'string', pattern: 'a[ab]{700}c' } },
    `${'ab'.repeat(100_000)}c`,
  ],
  [
    'a long text in many branches',
    { root: { anyOf: list(200, (i) => ({ minLength: 2_000_000 + i })) } },
    'x'.repeat(500_000),
  ],
  [
    'a long list in many branches',
    { root: { anyOf: list(100, () => ({ type: 'array', items: { type: 'integer' } })) } },
    [...list(200_000, () => 1), 'x'],
  ],
  [
    'a wide object in many branches',
    { root: { anyOf: list(100, () => ({ additionalProperties: { type: 'integer' }, minProperties: 50_000 })) } },
    Object.fromEntries(list(20_000, (i) => [`k${i}`, 1])),
  ],
  [
    'a wide object in branches by reference',
    {
      root: { oneOf: list(100, () => ref('wide')) },
      wide: { additionalProperties: { type: 'integer' }, minProperties: 50_000 },
    },
    Object.fromEntries(list(20_000, (i) => [`k${i}`, 1])),
  ],
  [
    'objects with many properties that are absent',
    { root: { items: { properties: Object.fromEntries(list(300, (i) => [`p${i}`, { type: 'integer' }])) } } },
    list(20_000, () => ({})),
  ],
  [
    'unevaluated properties on many levels',
    Object.fromEntries(
      list(41, (i): [string, Json] => [
        i === 0 ? 'root' : `f${i}`,
        i === 40
          ? { properties: { a: true } }
          : { unevaluatedProperties: false, anyOf: [ref(`f${i + 1}`), ref(`f${i + 1}`)] },
      ]),
    ),
    { a: 1 },
  ],
];

describe('a validation where time is limited', () => {
  it.each(HOSTILE)('is interrupted: %s', (_, table, value) => {
    const steps = new StepBudget(1_000_000);
    const validate = new Schemas(table, false, steps).validator(ref('root'));
    steps.begin(0, 0, { ms: Number.POSITIVE_INFINITY, piece: 5_000_000 });
    // Compiled outside the time.
    validate(null);
    steps.begin(0, 1_000_000, { ms: 0, piece: 5_000_000 });
    expect(() => validate(value)).toThrow(TimeExceeded);
  });
});
