/** Parameters: what is written in a style is read back, and what is not written in one does no harm. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { inTime } from '../../../../test/time-limit.ts';
import type { Parameter } from '../../artifact/format.ts';
import { readDeep } from './deep-object.ts';
import { MALFORMED, readPairs, readText, splitCookies, splitQuery } from './styles.ts';

type Style = Parameter['style'];
type Shape = 'plain' | 'array' | 'object';

/** The delimiter of a style without `explode`. */
const DELIMITERS: Readonly<Record<string, string>> = { spaceDelimited: '%20', pipeDelimited: '|' };

function parameterOf(style: Style, explode: boolean, shape: Shape, part: Parameter['in']): Parameter {
  const typed = {
    plain: { types: ['string'] },
    array: { types: ['array'], item_types: ['string'] },
    object: { types: ['object'], property_types: { a: ['string'], b: ['string'], 'ä&': ['string'] } },
  };
  return { name: 'p', in: part, required: false, style, explode, ...typed[shape] };
}

/** Writes a value as OpenAPI's table of styles says (3.1, section 4.8.12.3), everything percent-encoded. */
function write(style: Style, explode: boolean, value: string | string[] | Record<string, string>): string {
  const code = (text: string) =>
    encodeURIComponent(text).replaceAll(/[.!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
  const pairs = typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : [];
  const assigned = pairs.map(([name, text]) => `${code(name)}=${code(text)}`);
  const listed = Array.isArray(value) ? value.map(code) : pairs.flatMap(([name, text]) => [code(name), code(text)]);
  const plain = typeof value === 'string' ? code(value) : null;
  switch (style) {
    case 'simple':
      return plain ?? (explode && !Array.isArray(value) ? assigned : listed).join(',');
    case 'label':
      return `.${plain ?? (explode && !Array.isArray(value) ? assigned : listed).join(explode ? '.' : ',')}`;
    case 'matrix':
      if (!explode || plain !== null) return `;p=${plain ?? listed.join(',')}`;
      return `;${(Array.isArray(value) ? listed.map((each) => `p=${each}`) : assigned).join(';')}`;
    case 'deepObject':
      return pairs.map(([name, text]) => `p%5B${code(name)}%5D=${code(text)}`).join('&');
    default:
      if (!explode || plain !== null) return `p=${plain ?? listed.join(DELIMITERS[style] ?? ',')}`;
      return (Array.isArray(value) ? listed.map((each) => `p=${each}`) : assigned).join('&');
  }
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });
const values = {
  plain: text,
  array: fc.array(text, { minLength: 1, maxLength: 4 }),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'ä&'), text, { minKeys: 1, noNullPrototype: true }),
};
const shape = fc.constantFrom<Shape>('plain', 'array', 'object');
// A space within a spaceDelimited value is written as the delimiter is, and so is a pipe: the styles cannot carry them.
const isWritable = ({ style, value }: { readonly style: Style; readonly value: unknown }) =>
  DELIMITERS[style] === undefined || !/[ |]/.test(JSON.stringify(value));
/** A value, how it is written, and what reads it. */
const written = fc
  .tuple(shape, fc.boolean())
  .chain(([kind, explode]) => {
    const styles: Style[] = ['form', 'simple', 'label', 'matrix'];
    if (kind === 'object') styles.push('deepObject');
    if (kind !== 'plain' && !explode) styles.push('spaceDelimited', 'pipeDelimited');
    return fc.record({
      kind: fc.constant(kind),
      explode: fc.constant(explode),
      style: fc.constantFrom(...styles),
      value: values[kind],
    });
  })
  .filter(isWritable);

it('reads back what is written in any style', () => {
  fc.assert(
    fc.property(written, ({ kind, explode, style, value }) => {
      const inPath = style === 'simple' || style === 'label' || style === 'matrix';
      const parameter = parameterOf(style, explode, kind, inPath ? 'path' : 'query');
      const raw = write(style, explode, value);
      const read = inPath ? readText(parameter, raw, true) : readPairs(parameter, splitQuery(`x=1&${raw}&y`), true);
      expect(read, raw).toEqual(value);
    }),
    propertyRuns(4000),
  );
});

type Deep = string | Deep[] | { [name: string]: Deep };
const { deep } = fc.letrec<{ deep: Deep }>((tie) => ({
  deep: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    text,
    fc.array(tie('deep'), { minLength: 1, maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), tie('deep'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
  ),
}));

function entriesOf(name: string, value: Deep): [string, string][] {
  if (typeof value === 'string') return [[name, value]];
  return Object.entries(value).flatMap(([key, each]) => entriesOf(`${name}[${key}]`, each));
}

it('reads back what nests', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(deep, { minLength: 1, maxLength: 3 }),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), deep, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
      ),
      (value) => {
        expect(readDeep('p', entriesOf('p', value))).toEqual(value);
      },
    ),
    propertyRuns(2000),
  );
});

it('reads or refuses any text, and keeps to the types that it gives', () => {
  const tokens = [
    'p',
    '=',
    '&',
    '[',
    ']',
    ';',
    ',',
    '.',
    '|',
    '%20',
    '%',
    '%ff',
    '%5B',
    '+',
    '__proto__',
    'a',
    '"',
    '{}',
    '1',
    'true',
  ];
  const raw = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...tokens), { maxLength: 30 }).map((all) => all.join('')),
  );
  const styles = fc.constantFrom<Style>(
    'form',
    'spaceDelimited',
    'pipeDelimited',
    'deepObject',
    'simple',
    'label',
    'matrix',
  );
  fc.assert(
    fc.property(raw, styles, shape, fc.boolean(), fc.boolean(), (given, style, kind, explode, json) => {
      const parameter = {
        ...parameterOf(style, explode, kind, 'query'),
        ...(json ? { content_type: 'application/json' } : {}),
      };
      for (const value of inTime(() => [
        readPairs(parameter, splitQuery(given), true),
        readPairs(parameter, splitCookies(given), false),
        readText(parameter, given, true),
        readText({ ...parameter, in: 'header' }, given, false),
      ])) {
        if (value === undefined || value === MALFORMED || json || style === 'deepObject') continue;
        if (kind === 'plain') expect(typeof value).toBe('string');
        else expect(typeof value).toBe('object');
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
    }),
    propertyRuns(4000),
  );
});
