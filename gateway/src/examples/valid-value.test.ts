/** Values made from schemas: valid, bounded, and the same for the same seed. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { breakCycles } from '../compiler/schemas/schema-cycles.ts';
import type { Json, JsonObject } from '../spec/json.ts';
import { Schemas } from '../validation/schemas/schemas.ts';
import { ValueGenerator } from './generator.ts';
import { ValueMaker } from './valid-value.ts';

const REF = { $ref: 'gw:root' };

function maker(root: Json, others: JsonObject = {}): ValueMaker {
  const table = { root, ...others };
  return new ValueMaker(table, new Schemas(table, false));
}

const made = (root: Json, others: JsonObject = {}) => maker(root, others).make(REF, 'seed');

/** `if` and `then`, which no object literal may be called by. */
const condition = (holds: Json, demands: Json): JsonObject =>
  Object.fromEntries([
    ['if', holds],
    ['then', demands],
  ]);
const differing = (count: number) => ({ type: 'array', uniqueItems: true, minItems: count });
const isKind = (kind: string): Json => ({ properties: { kind: { enum: [kind] } }, required: ['kind'] });

describe('a value made from a schema', () => {
  it.each<readonly [string, Json]>([
    ['a format', { type: 'string', format: 'date-time' }],
    [
      'every format of the kind',
      {
        type: 'array',
        prefixItems: ['uuid', 'email', 'ipv6', 'duration', 'byte'].map((format) => ({ type: 'string', format })),
        minItems: 5,
      },
    ],
    ['a pattern', { type: 'string', pattern: '^[A-Z]{2}-\\d{4,6}(?:-x|-y)?$' }],
    ['a pattern and a length', { type: 'string', pattern: '^[a-z0-9]+$', minLength: 40, maxLength: 41 }],
    ['a pattern with groups that repeat', { type: 'string', pattern: '^(ab|cd)=\\1$' }],
    ['a length', { type: 'string', minLength: 100, maxLength: 101 }],
    ['an empty text', { type: 'string', maxLength: 0 }],
    ['exclusive bounds', { type: 'integer', exclusiveMinimum: 5, exclusiveMaximum: 7 }],
    ['a fraction', { type: 'number', minimum: 0.25, maximum: 0.5, multipleOf: 0.05 }],
    ['several multiples', { allOf: [{ type: 'integer', multipleOf: 4 }, { multipleOf: 6 }], minimum: 13 }],
    ['a number below none', { type: 'number', maximum: -1000 }],
    ['const', { const: { a: [1, null] } }],
    ['lists of values that share one', { allOf: [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }] }],
    ['items that differ', { type: 'array', items: { enum: [1, 2, 3] }, uniqueItems: true, minItems: 3 }],
    ['fifty of sixty items', { ...differing(50), items: { type: 'integer', minimum: 1, maximum: 60 } }],
    ['every one of sixty items', { ...differing(60), items: { type: 'integer', minimum: 1, maximum: 60 } }],
    ['many numbers that differ', { ...differing(500), items: { type: 'integer' } }],
    ['many texts that differ', { ...differing(500), items: { type: 'string' } }],
    ['a number far out', { type: 'number', minimum: 1e308 }],
    ['a whole number far out', { type: 'integer', exclusiveMinimum: 1e300 }],
    ['a number far below', { type: 'number', exclusiveMaximum: -1e308 }],
    ['a number between close bounds', { type: 'number', minimum: 0.001, maximum: 0.002 }],
    ['a look-ahead', { type: 'string', pattern: '^(?=.*[A-Z])(?=.*\\d)[A-Za-z\\d]{8}$' }],
    [
      'a look-ahead and a length',
      { type: 'string', pattern: '^(?=.*[#?!])(?=.*[a-z]).+$', minLength: 12, maxLength: 16 },
    ],
    ['a text that must not begin so', { type: 'string', pattern: '^(?!a|b|c|d|e|f)[a-z]{2}$' }],
    ['items that are contained', { type: 'array', contains: { const: 7 }, minContains: 2, items: { type: 'integer' } }],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'null' }], items: false, minItems: 2 }],
    ['required members without properties', { type: 'object', required: ['a', 'b'] }],
    [
      'members by pattern',
      {
        type: 'object',
        patternProperties: { '^x-[a-z]{3}$': { type: 'integer' } },
        additionalProperties: false,
        minProperties: 2,
      },
    ],
    ['members by name', { type: 'object', propertyNames: { pattern: '^k[0-9]{3}$' }, minProperties: 3 }],
    [
      'members that need others',
      { type: 'object', properties: { a: { type: 'string' } }, dependentRequired: { a: ['b'] }, required: ['a'] },
    ],
    ['few members', { type: 'object', properties: { a: {}, b: {}, c: {} }, maxProperties: 1 }],
    [
      'a condition',
      {
        type: 'object',
        properties: { kind: { enum: ['x'] } },
        required: ['kind'],
        ...condition(isKind('x'), { required: ['more'] }),
      },
    ],
    [
      'exactly one branch',
      {
        oneOf: [
          { type: 'object', required: ['a'] },
          { type: 'object', required: ['b'], additionalProperties: { type: 'integer' } },
        ],
      },
    ],
    [
      'closed parts',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } } },
          { type: 'object', properties: { b: { type: 'integer' } } },
        ],
        unevaluatedProperties: false,
      },
    ],
    ['null where nothing else is', { type: ['null'] }],
    [
      'a schema that contains itself',
      {
        type: 'object',
        properties: { children: { type: 'array', items: REF }, name: { type: 'string' } },
        required: ['children'],
      },
    ],
    [
      'a schema that contains itself in a choice',
      { anyOf: [{ type: 'object', properties: { next: REF }, required: ['next'] }, { type: 'null' }] },
    ],
    [
      'an example that does not fit',
      {
        type: 'object',
        properties: {
          n: { type: 'integer', examples: ['ten'] },
          s: { type: 'string', maxLength: 2, examples: ['long'] },
        },
        required: ['n', 's'],
      },
    ],
  ])('is valid: %s', (_, schema) => {
    expect(made(schema)).toMatchObject({ valid: true });
  });

  it('goes by a discriminator as the compiler translates it', () => {
    const branch = (name: string) => ({ $ref: `gw:${name}` });
    const named = (member: string): Json => ({ required: ['kind', member], properties: { kind: { type: 'string' } } });
    const schema = {
      oneOf: [branch('cat'), branch('dog')],
      allOf: ['cat', 'dog'].map((name) => condition(isKind(name), branch(name))),
      required: ['kind'],
      properties: { kind: { enum: ['cat', 'dog'] } },
    };
    expect(made(schema, { cat: named('lives'), dog: named('bark') })).toMatchObject({ valid: true });
  });

  it('holds the examples and defaults of its schema', () => {
    const name = { type: 'string', examples: ['Dune'] };
    const pages = { type: 'integer', default: 412 };
    const { value } = made({ type: 'object', properties: { name, pages, note: { type: 'string', writeOnly: true } } });
    expect(value).toEqual({ name: 'Dune', pages: 412 });
  });

  it('is the same for the same seed, and another for another', () => {
    const book = maker({ type: 'object', properties: { id: { type: 'string', format: 'uuid' } } });
    expect(book.make(REF, 'a')).toEqual(book.make(REF, 'a'));
    expect(book.make(REF, 'a')).not.toEqual(book.make(REF, 'b'));
  });

  it.each<readonly [string, Json]>([
    ['too many items', { type: 'array', minItems: 1_000_000_000 }],
    ['too long a text', { type: 'string', minLength: 1_000_000_000 }],
    ['too long a pattern', { type: 'string', pattern: '^(?:a{1000}){1000}$' }],
    ['a member that needs itself', { type: 'object', properties: { next: REF }, required: ['next'] }],
    [
      'many members that need many',
      {
        type: 'object',
        properties: Object.fromEntries([...'abcdefghij'].map((name) => [name, REF])),
        required: [...'abcdefghij'],
      },
    ],
    ['nothing', false],
    ['no type', { allOf: [{ type: 'string' }, { type: 'integer' }] }],
  ])('is not made where the schema asks for %s', (_, schema) => {
    expect(made(schema).valid).toBe(false);
  });

  it('is given up after so many visits in all manners together', () => {
    const step = vi.spyOn(ValueGenerator.prototype, 'step');
    const list = (items: Json): Json => ({ type: 'array', minItems: 150, items });
    expect(made(list(list({ type: 'string' }))).valid).toBe(false);
    expect(step.mock.calls.length).toBeLessThan(80_010);
    step.mockClear();
    expect(made(list({ type: 'array', minItems: 1e9 })).valid).toBe(false);
    expect(step.mock.calls.length).toBeLessThan(100);
    step.mockRestore();
  });

  it('counts the values of enumerations, which are looked at for each item', () => {
    const values = Array.from({ length: 20_000 }, (_, i) => `v${i}`);
    const step = vi.spyOn(ValueGenerator.prototype, 'step');
    expect(made({ type: 'array', uniqueItems: true, minItems: 20_000, items: { enum: values } }).valid).toBe(false);
    expect(step.mock.calls.length).toBeLessThan(1_000);
    step.mockRestore();
    expect(made({ type: 'array', uniqueItems: true, minItems: 20, items: { enum: values.slice(0, 50) } }).valid).toBe(
      true,
    );
  });

  it('ends for any schema, and is what it says it is', () => {
    const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        fc.constantFrom<Json>(true, false, REF, { type: 'string' }, { type: 'integer', minimum: 3 }),
        fc.record(
          {
            type: fc.constantFrom('object', 'array', 'string', 'number', ['null', 'integer']),
            properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'then'), tie('schema'), { maxKeys: 3 }),
            required: fc.subarray(['a', 'b', 'then']),
            items: tie('schema'),
            minItems: fc.nat(5),
            maxItems: fc.nat(5),
            minLength: fc.nat(20),
            maxLength: fc.nat(20),
            pattern: fc.constantFrom('^a+$', '[0-9]{3}', '(?=x)y', '\\p{L}', '^$'),
            minimum: fc.double({ noNaN: true }),
            maximum: fc.double({ noNaN: true }),
            multipleOf: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
            oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
            allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            not: tie('schema'),
            enum: fc.array(fc.jsonValue() as fc.Arbitrary<Json>, { minLength: 1, maxLength: 3 }),
            uniqueItems: fc.boolean(),
            additionalProperties: tie('schema'),
            minProperties: fc.nat(3),
          },
          { requiredKeys: [] },
        ),
      ) as fc.Arbitrary<Json>,
    }));
    const property = fc.property(schema, fc.string(), (root, seed) => {
      const table = new Map([['root', root]]);
      breakCycles(table);
      const whole = table.get('root') ?? true;
      const { value, valid } = maker(whole).make(REF, seed);
      expect(maker(whole).make(REF, seed)).toEqual({ value, valid });
      if (valid && value !== undefined)
        expect(new Schemas({ root: whole }, false).validator(REF)(JSON.parse(JSON.stringify(value)))).toBeNull();
    });
    fc.assert(property, propertyRuns(200));
  });
});
