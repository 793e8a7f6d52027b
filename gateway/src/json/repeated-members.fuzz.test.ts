/** Repeated members are found in any JSON that strangers write, and in nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutated } from '../../../test/mutations.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { inTime } from '../../../test/time-limit.ts';
import { RepeatedMember } from './escaped-names.ts';
import { scanJson } from './json-scan.ts';
import { repeatsName } from './member-names.ts';
import { parseForValidation, parseOnce, parseScanned, parseTextOnce } from './parse-once.ts';

/** The value, or the class of what was thrown. */
function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return (error as Error).constructor;
  }
}

/** As `parseOnce` reads it, also after a scan. */
function readBoth(bytes: Uint8Array): unknown {
  const read = outcome(() => parseOnce(bytes));
  const scan = scanJson(bytes);
  if (!scan.isTooCostly) expect(outcome(() => parseScanned(bytes, scan))).toEqual(read);
  return read;
}

/** By both ways to find out, from bytes at any place in memory. */
function repeats(text: string, offset = 0): boolean {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).subarray(offset);
  const found = repeatsName(bytes);
  expect(readBoth(bytes) === RepeatedMember).toBe(found);
  return found;
}

type Member = readonly [name: string, value: Node];
type Node = { readonly members: readonly Member[] } | { readonly items: readonly Node[] } | { readonly leaf: unknown };

const name = fc.oneof(
  fc.constantFrom('a', 'b', '__proto__', 'é', '"', '\\', ':', ' :', '":', '', '0', '{', ',', '\ud800'),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);
const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.integer(), fc.boolean(), name, fc.double({ noNaN: true, noDefaultInfinity: true })).map((leaf) => ({
      leaf,
    })),
    fc.array(fc.tuple(name, tie('node')), { maxLength: 14 }).map((members) => ({ members })),
    fc.array(tie('node'), { maxLength: 6 }).map((items) => ({ items })),
  ),
}));

/** As JSON, with white space and escapes where there may be some. */
function write(value: Node, pick: () => number): string {
  const space = () => ['', '', '', ' ', '\n\t', ' '.repeat(300)][pick() % 6] ?? '';
  const string = (text: string) =>
    `"${[...text]
      .map((each) => {
        if (pick() % 5 > 0) return JSON.stringify(each).slice(1, -1);
        return [...Array(each.length).keys()]
          .map((i) => `\\u${each.charCodeAt(i).toString(16).padStart(4, '0')}`)
          .join('');
      })
      .join('')}"`;
  if ('leaf' in value) return typeof value.leaf === 'string' ? string(value.leaf) : JSON.stringify(value.leaf);
  const inside =
    'items' in value
      ? value.items.map((each) => space() + write(each, pick) + space())
      : value.members.map(([each, of]) => `${space()}${string(each)}${space()}:${space()}${write(of, pick)}${space()}`);
  return 'items' in value ? `[${inside.join(',')}]` : `{${inside.join(',')}}`;
}

/** The plain way. Surrogates without their other half are one name, as they are to readers that write UTF-8. */
function hasRepeat(value: Node): boolean {
  if ('leaf' in value) return false;
  if ('items' in value) return value.items.some(hasRepeat);
  const names = value.members.map(([each]) => each.toWellFormed());
  return new Set(names).size < names.length || value.members.some(([, of]) => hasRepeat(of));
}

describe('repeated members', () => {
  it('are found in any JSON that has some, however it is written', () => {
    fc.assert(
      fc.property(node, fc.array(fc.nat(), { minLength: 1, maxLength: 40 }), fc.nat(3), (value, picks, offset) => {
        let next = 0;
        const text = write(value, () => picks[next++ % picks.length] ?? 0);
        expect(inTime(() => repeats(text, offset))).toBe(hasRepeat(value));
      }),
      propertyRuns(3000),
    );
  });

  it('are looked for in any bytes without harm, and found where they are JSON', () => {
    const seeds = ['{"a":1,"b":[{"a":"\\u0061:"},{"c\\"":{}}],"d":" :"}', '[{"k":{"k":{"k":1}}},"x\\\\"]'];
    const marks = ['"a"', '"a":1,', '\\u0061', '{', '}', '[', ']', ',', ':', '"', '\\', ' ', '\n'];
    fc.assert(
      fc.property(
        mutated(
          seeds.map((each) => Buffer.from(each)),
          marks,
        ),
        (bytes) => {
          const found = inTime(() => repeatsName(bytes));
          const read = inTime(() => readBoth(bytes));
          if (read === SyntaxError || read === TypeError) return;
          expect(read === RepeatedMember).toBe(found);
        },
      ),
      propertyRuns(6000),
    );
  });

  it.each([
    ['{"a":1,"a":2}', true],
    ['{"a":1,"\\u0061":2}', true],
    ['{"é":1,"\\u00e9":2}', true],
    ['{"\\ud83d\\ude00":1,"😀":2}', true],
    ['{"a/b":1,"a\\/b":2}', true],
    ['{"a" : 1 ,\n"a"\t:2}', true],
    ['[{"a":{"b":1,"c":[],"b":2}}]', true],
    ['{"__proto__":1,"__proto__":2}', true],
    ['{"a":1,"A":2}', false],
    ['{"a":{"a":{"a":1}},"b":{"a":1}}', false],
    ['[{"a":1},{"a":1}]', false],
    ['{"a":"\\"a\\":1,\\"a\\":2","b":"a : b"}', false],
    ['["a","a",{"b":"b"}]', false],
    ['"{\\"a\\":1,\\"a\\":2}"', false],
    ['1', false],
  ])('%s: %s', (text, wanted) => {
    expect(repeats(text)).toBe(wanted);
  });

  const wide = (count: number, names: (i: number) => string) =>
    `{${Array.from({ length: count }, (_, i) => `${JSON.stringify(names(i))}:${i}`).join(',')}`;

  it.each<[string, (i: number) => string]>([
    ['one after another', (i: number) => `key${i}`],
    ['that differ at their ends', (i: number) => `${'x'.repeat(60)}${i}`],
    ['that differ at their beginnings', (i: number) => `${i}${'x'.repeat(60)}`],
    ['that need escapes', (i: number) => `"${i}`],
  ])('are found among very many names %s', (_, names) => {
    const count = 20_000;
    const text = wide(count, names);
    expect(inTime(() => repeats(`${text}}`))).toBe(false);
    expect(inTime(() => repeats(`${text},${JSON.stringify(names(count / 2))}:0}`))).toBe(true);
  });

  it('are found at any depth, and take no stack', () => {
    const depth = 200_000;
    const nested = (inside: string) => '{"a":['.repeat(depth) + inside + ']}'.repeat(depth);
    expect(inTime(() => repeatsName(Buffer.from(nested('1'))))).toBe(false);
    expect(inTime(() => repeatsName(Buffer.from(nested('{"b":1,"b":1}'))))).toBe(true);
    expect(inTime(() => repeats(`${'['.repeat(depth)}${']'.repeat(depth)}`))).toBe(false);
  });

  it('of wide objects within each other are told apart', () => {
    let text = '1';
    for (let i = 0; i < 200; i++) text = `${wide(40, (each) => `n${each}`)},"in":${text}}`;
    expect(inTime(() => repeats(text))).toBe(false);
    expect(inTime(() => repeats(`${text.slice(0, -1)},"n7":0}`))).toBe(true);
  });

  it('are no names of earlier texts', () => {
    // JSON.parse takes the second name for the first, whose beginning is spelled alike.
    expect(parseTextOnce('[{"\\\\u006":1},{"\\u0061dmin":true}]')).toEqual([{ '\\u006': 1 }, { admin: true }]);
    parseTextOnce('{"h":[],"\\\\":0}');
    expect(parseTextOnce('{"h":1,"\\"":2,"\\n":{"__proto__":[null]}}')).toEqual(
      Object.fromEntries([
        ['h', 1],
        ['"', 2],
        ['\n', JSON.parse('{"__proto__":[null]}')],
      ]),
    );
    const nested = '{"\\n":['.repeat(100_000) + ']}'.repeat(100_000);
    expect(inTime(() => outcome(() => parseTextOnce(nested)))).toBeTypeOf('object');
  });

  it('of any JSON are read as they are written', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), fc.jsonValue(), (one, other) => {
        const written = (value: unknown) =>
          JSON.stringify(value)?.replaceAll(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
        parseTextOnce(JSON.stringify(other));
        expect(JSON.stringify(inTime(() => parseTextOnce(written(one) ?? '')))).toBe(JSON.stringify(one));
      }),
      propertyRuns(2000),
    );
  });

  it('make of JSON an error of their own', () => {
    expect(() => parseOnce(Buffer.from('{"a":1,"a":2}'))).toThrow(RepeatedMember);
    expect(() => parseTextOnce('{"a":1,"a":2}')).toThrow(RepeatedMember);
    expect(() => parseOnce(Buffer.from('{'))).toThrow(SyntaxError);
    expect(() => parseOnce(Buffer.from([0x22, 0xff, 0x22]))).toThrow(TypeError);
    expect(parseForValidation(Buffer.from('{"a":1,"a":2,"\\u0061":3}'), true)).toEqual({ a: 3 });
    expect(parseOnce(Buffer.from('\ufeff{"a":[1,{"a":2}]}'))).toEqual({ a: [1, { a: 2 }] });
  });
});
