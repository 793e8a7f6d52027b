/** Texts become a bounded number of values, however they are written. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import type { FormField, Parameter } from '../../artifact/format.ts';
import { readParts, readUrlencoded } from '../form.ts';
import { MOST_FIELDS } from '../multipart.ts';
import { MOST_ITEMS } from './item-budget.ts';
import { MALFORMED, readPairs, readText, splitCookies, splitQuery } from './styles.ts';
import { decode } from './text.ts';

type Style = FormField['style'];

const list = (style: Style, more: Partial<FormField> = {}): FormField => ({
  name: 'a',
  style,
  explode: false,
  types: ['array'],
  item_types: ['string'],
  ...more,
});
const parameter = (style: Parameter['style'], part: Parameter['in'], explode = false): Parameter => ({
  ...list(style, { explode }),
  in: part,
  required: false,
});

/** Styles of forms, each with the delimiters that it has. */
const DELIMITED: readonly (readonly [Style, string])[] = [
  ['form', ','],
  ['pipeDelimited', '|'],
  ['pipeDelimited', '%7C'],
  ['pipeDelimited', '%7c'],
  ['spaceDelimited', '+'],
  ['spaceDelimited', '%20'],
];
const counts = fc.oneof(
  fc.integer({ min: 1, max: MOST_ITEMS }),
  fc.constantFrom(MOST_ITEMS - 1, MOST_ITEMS, MOST_ITEMS + 1),
  fc.integer({ min: MOST_ITEMS, max: 100_000 }),
);
const items = fc.constantFrom('', 'x', '1');
const lengthOf = (value: unknown): number | null => (Array.isArray(value) ? value.length : null);
const expected = (count: number) => (count <= MOST_ITEMS ? count : null);

describe('a list', () => {
  it.each(DELIMITED)('of a form in style %s, delimited by "%s", has at most so many items', (style, delimiter) => {
    fc.assert(
      fc.property(counts, items, (count, item) => {
        // An empty text is no item.
        if (count === 1 && item === '') return;
        const reading = readUrlencoded([list(style)], `a=${Array(count).fill(item).join(delimiter)}`);
        if (count > MOST_ITEMS) {
          expect(reading).toEqual({
            errors: [{ in: 'body', field: '/a', reason: `has more than ${MOST_ITEMS} items` }],
          });
        } else expect(reading).toMatchObject({ value: { a: { length: count } } });
      }),
      propertyRuns(20),
    );
  });

  it('shares its items with the other lists and objects of its form', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 2, max: 2_000 }), (fields, each) => {
        const names = Array.from({ length: fields }, (_, i) => `f${i}`);
        const text = names.map((name) => `${name}=${Array(each).fill('1').join('|')}`).join('&');
        const reading = readUrlencoded(
          names.map((name) => list('pipeDelimited', { name })),
          text,
        );
        expect('errors' in reading).toBe(fields * each > MOST_ITEMS);
      }),
      propertyRuns(20),
    );
  });

  it('of a parameter has at most so many items, wherever the parameter stands', () => {
    fc.assert(
      fc.property(counts, (count) => {
        const commas = Array(count).fill('x').join(',');
        const read = [
          readText(parameter('simple', 'header'), commas, false),
          readText(parameter('simple', 'path'), commas, true),
          readText(parameter('label', 'path', true), `.${Array(count).fill('x').join('.')}`, true),
          readText(parameter('matrix', 'path'), `;a=${commas}`, true),
          readText(parameter('matrix', 'path', true), Array(count).fill(';a=x').join(''), true),
          readPairs(parameter('form', 'query'), splitQuery(`a=${commas}`), true),
          readPairs(parameter('pipeDelimited', 'query'), splitQuery(`a=${commas.replaceAll(',', '|')}`), true),
          readPairs(parameter('form', 'cookie'), splitCookies(`a=${commas}`), false),
        ];
        expect(read.map(lengthOf)).toEqual(read.map(() => expected(count)));
      }),
      propertyRuns(10),
    );
  });
});

it('an object of a form or a parameter has at most half as many members', () => {
  const object = list('form', { types: ['object'], property_types: {} });
  const members = (count: number) => Array.from({ length: count }, (_, i) => `k${i},v`).join(',');
  expect(readUrlencoded([object], `a=${members(MOST_ITEMS / 2)}`)).toHaveProperty('value');
  expect(readUrlencoded([object], `a=${members(MOST_ITEMS / 2 + 1)}`)).toHaveProperty('errors');
  const header: Parameter = { ...object, style: 'simple', in: 'header', required: false };
  expect(readText(header, members(MOST_ITEMS / 2 + 1), false)).toBe(MALFORMED);
});

it('a form has at most so many pairs or parts, whatever their names', () => {
  const fields = [list('form', { explode: true }), list('deepObject', { name: 'd', types: ['object'] })];
  for (const pair of ['a=1&', 'd[x]=1&', 'other=1&', '&', '=&']) {
    expect(readUrlencoded(fields, pair.repeat(200_000))).toMatchObject({
      errors: [{ reason: `has more than ${MOST_FIELDS} fields` }],
    });
  }
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n';
  const form = (count: number) =>
    readParts(fields, 'multipart/form-data; boundary=b', Buffer.from(`${part.repeat(count)}--b--`));
  expect(form(MOST_FIELDS)).toMatchObject({ value: { a: { length: MOST_FIELDS } } });
  expect(form(100_000)).toMatchObject({ errors: [{ reason: `has more than ${MOST_FIELDS} parts` }] });
});

it('plus signs are spaces in texts of any length and of any characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 1, max: 60 }), (unit, times) => {
      const text = `${unit}+`.repeat(times).replaceAll('%', '');
      expect(decode(text, true)).toBe(text.split('+').join(' '));
      expect(decode(text, false)).toBe(text);
    }),
    propertyRuns(200),
  );
});
