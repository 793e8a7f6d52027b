import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { Json, RoutesFile } from '../artifact/format.ts';
import { SchemaComparison } from './schemas.ts';

function findings(before: Json, after: Json): string[] {
  return compare({ s: before }, { s: after }).map(({ at, effect, what }) => `${effect} ${at}: ${what}`);
}

function compare(before: RoutesFile['schemas'], after: RoutesFile['schemas']) {
  return new SchemaComparison(before, after).compare({ $ref: 'gw:s' }, { $ref: 'gw:s' });
}

const object = (properties: Json, more: Record<string, Json> = {}): Json => ({ type: 'object', properties, ...more });

describe('schemas compared', () => {
  it.each<[string, Json, Json, string[]]>([
    ['nothing', object({ a: true }), object({ a: true }), []],
    ['a type', { type: 'number' }, { type: 'integer' }, ['narrowed : type "number" → "integer"']],
    [
      'a type more',
      { type: 'integer' },
      { type: ['integer', 'null'] },
      ['widened : type "integer" → ["integer","null"]'],
    ],
    ['a bound', { maxLength: 200 }, { maxLength: 80 }, ['narrowed : maxLength 200 → 80']],
    ['a bound the other way', { minimum: 5 }, { minimum: 1 }, ['widened : minimum 5 → 1']],
    [
      'a bound that is written otherwise',
      { type: 'integer', minimum: 1 },
      { type: 'integer', exclusiveMinimum: 0 },
      [],
    ],
    [
      'a bound beside the number',
      { minimum: 1 },
      { exclusiveMinimum: 1 },
      ['narrowed : minimum 1 → exclusiveMinimum 1'],
    ],
    ['a bound below the number', { maximum: 1 }, { exclusiveMaximum: 2 }, ['widened : maximum 1 → exclusiveMaximum 2']],
    ['a coarser decimal', { multipleOf: 0.01 }, { multipleOf: 0.07 }, ['narrowed : multipleOf 0.01 → 0.07']],
    ['a finer decimal', { multipleOf: 0.3 }, { multipleOf: 0.1 }, ['widened : multipleOf 0.3 → 0.1']],
    ['another decimal', { multipleOf: 0.02 }, { multipleOf: 0.03 }, ['changed : multipleOf 0.02 → 0.03']],
    [
      'digits that binary64 does not hold',
      {
        minimum: 9007199254740992,
        const: 1,
        'x-gw-written': { minimum: '9007199254740993', const: '1.0000000000000000001' },
      },
      { minimum: 9007199254740992, const: 1 },
      ['widened : minimum 9007199254740993 → 9007199254740992', 'changed : const changed'],
    ],
    ['no bound', { type: 'number', minimum: 1 }, { type: 'number' }, ['widened : minimum 1 → any']],
    [
      'a new bound',
      { type: 'number' },
      { type: 'number', exclusiveMaximum: 9 },
      ['narrowed : exclusiveMaximum any → 9'],
    ],
    ['one value to a list with it', { const: 'a' }, { enum: ['a', 'b'] }, ['widened : enum gained "b"']],
    ['a list to one value', { enum: ['a', 'b'] }, { const: 'a' }, ['narrowed : enum lost "b"']],
    ['values', { enum: ['a', 'b'] }, { enum: ['b', 'c'] }, ['narrowed : enum lost "a"', 'widened : enum gained "c"']],
    [
      'what is required',
      { required: ['a'] },
      { required: ['b'] },
      ['narrowed : "b" is required now', 'widened : "a" is not required any more'],
    ],
    [
      'a property below',
      object({ a: { items: {} } }),
      object({ a: { items: { type: 'string' } } }),
      ['narrowed /a/*: must be "string" now'],
    ],
    ['a property more', object({}), object({ a: { type: 'string' } }), ['named /a: added']],
    ['a property less', object({ a: true }), object({}), ['widened /a: removed']],
    [
      'a property less where no others are admitted',
      object({ a: true }, { additionalProperties: false }),
      object({}, { additionalProperties: false }),
      ['narrowed /a: removed'],
    ],
    [
      'an alternative',
      { anyOf: [{ type: 'string' }] },
      { anyOf: [{ type: 'null' }, { type: 'string' }] },
      ['widened : 1 alternative of anyOf added'],
    ],
    ['a pattern', { pattern: 'a' }, { pattern: 'b' }, ['changed : pattern changed']],
    ['a schema to none', { type: 'string' }, true, ['widened : admits more now']],
    ['none to a schema', {}, { type: 'string' }, ['narrowed : must be "string" now']],
  ])('%s', (_, before, after, expected) => {
    expect(findings(before, after)).toEqual(expected);
  });

  it('follows references, also where they lead back', () => {
    const list = (value: Json): RoutesFile['schemas'] => ({
      s: object({ value: { $ref: 'gw:value' }, next: { $ref: 'gw:s' } }),
      value,
    });
    expect(compare(list({ type: 'string' }), list({ type: 'string' }))).toEqual([]);
    expect(compare(list({ maxLength: 5 }), list({ maxLength: 4 }))).toEqual([
      { at: '/value', effect: 'narrowed', what: 'maxLength 5 → 4' },
    ]);
  });

  it('ends on a chain of references that is too long for the stack', () => {
    const chain = (last: Json): RoutesFile['schemas'] =>
      Object.fromEntries([
        ['s', { $ref: 'gw:0' }],
        ...Array.from({ length: 50_000 }, (_, i): [string, Json] => [String(i), { not: { $ref: `gw:${i + 1}` } }]),
        ['50000', last],
      ]);
    expect(compare(chain(true), chain(false))).toMatchObject([{ effect: 'changed' }]);
  });

  it('say that what narrows nothing admits all that was admitted', () => {
    const ajv = new Ajv2020({ strict: false });
    fc.assert(
      fc.property(schema, schema, fc.array(value, { minLength: 1, maxLength: 20 }), (before, after, values) => {
        // Ajv takes an empty list for one that contains anything, where prefixItems stand beside it.
        const text = JSON.stringify([before, after]);
        fc.pre(!text.includes('"contains"') || !text.includes('"prefixItems"'));
        const found = compare({ s: JSON.parse(JSON.stringify(before)) }, { s: JSON.parse(JSON.stringify(after)) });
        if (found.some(({ effect }) => effect !== 'widened')) return;
        const [old, now] = [ajv.compile(before), ajv.compile(after)];
        for (const each of values) if (old(each)) expect(now(each), JSON.stringify({ before, after, each })).toBe(true);
      }),
      propertyRuns(1000),
    );
  });
});

const NAMES = ['a', 'b'];
const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, 0, 1, 2.5, 7, '', 'a', 'bb', 'ccc'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 2 }),
  ),
})).value;

/** Small schemas over a few names and values, so that pairs of them often have to do with each other. */
const schema = fc.letrec<{ schema: object; sub: boolean | object }>((tie) => {
  const bound = fc.nat(3);
  const sub = tie('sub');
  const some = fc.array(sub, { minLength: 1, maxLength: 2 });
  const keyword = (name: string, arbitrary: fc.Arbitrary<unknown>) => fc.tuple(fc.constant(name), arbitrary);
  const keywords = [
    keyword('type', fc.constantFrom('string', 'integer', 'number', 'object', ['array', 'null'])),
    keyword('enum', fc.uniqueArray(fc.constantFrom('a', 1, 7, null), { minLength: 1 })),
    ...['maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'minLength', 'maxItems', 'minContains'].map(
      (name) => keyword(name, bound),
    ),
    keyword('const', fc.constantFrom('a', 1, 7, null)),
    keyword('required', fc.uniqueArray(fc.constantFrom(...NAMES))),
    keyword('properties', fc.dictionary(fc.constantFrom(...NAMES), sub, { maxKeys: 2 })),
    keyword('unevaluatedProperties', fc.boolean()),
    ...['additionalProperties', 'items', 'contains', 'not', 'if', 'then', 'else'].map((name) => keyword(name, sub)),
    ...['prefixItems', 'anyOf', 'allOf'].map((name) => keyword(name, some)),
  ];
  return {
    sub: fc.oneof({ maxDepth: 2 }, fc.boolean(), tie('schema')),
    schema: fc
      .uniqueArray(fc.oneof(...keywords), { maxLength: 3, selector: ([name]) => name })
      .map((entries) => Object.fromEntries(entries)),
  };
}).schema;
