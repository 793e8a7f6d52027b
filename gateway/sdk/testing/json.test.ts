/** JSON of the SDK, through a compiled module, beside JSON.parse. */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { type JsonObject, type PluginKit, testPlugin } from './index.ts';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(join(import.meta.dirname, '../../../test/fixtures/plugins/text-tools'), {
    limits: { cpuMs: 1000 },
  });
});
afterAll(() => kit.close());

/** What a tool of the plugin makes of a text; null if it makes nothing. */
async function made(tool: string, body: string | Uint8Array, config: JsonObject = {}): Promise<string | null> {
  const { answer, logs } = await kit.dispatch({ config: { tool, ...config }, method: 'POST', body });
  if (answer === null || (answer.status !== 200 && answer.status !== 404)) {
    throw new Error(`${tool}: ${logs.map(({ message }) => message).join()}`);
  }
  return answer.status === 200 ? answer.body : null;
}

const edited = (body: string, ...edits: readonly (readonly [string, string, unknown?])[]) =>
  made('json-edit', body, { edits: JSON.parse(JSON.stringify(edits)) });

/** Blanks that change nothing, put between the tokens of a compact text. */
const spaced = (json: string, blanks: readonly string[]) => {
  let at = 0;
  const blank = () => blanks[at++ % blanks.length] ?? '';
  return json.replace(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g, (token) => `${blank()}${token}${blank()}`);
};
const blanks = fc.array(fc.constantFrom('', ' ', '\n', '\t', '\r\n  '), { minLength: 1, maxLength: 5 });
const key = fc.oneof(fc.constantFrom('a', 'b', 'ssn', '*', '', '-', '0', 'a/b', '~', 'é', '😀', '"'), fc.string());
const { document } = fc.letrec<{ document: unknown; object: unknown }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, -1.5, 1e300, 'x'),
    fc.string({ unit: 'grapheme' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('document'), { maxLength: 5 }),
    tie('object'),
  ),
  object: fc
    .uniqueArray(fc.tuple(key, tie('document')), { maxLength: 12, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries)),
}));

/** Values at a path, in the order of the text. */
function valuesAt(value: unknown, path: string): unknown[] {
  if (path === '') return [value];
  const [, token = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(path) ?? [];
  if (typeof value !== 'object' || value === null) return [];
  const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
  if (token === '*') return Object.values(value).flatMap((each) => valuesAt(each, rest));
  if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(name)) return [];
  return Object.hasOwn(value, name) ? valuesAt((value as Record<string, unknown>)[name], rest) : [];
}
const path = fc
  .array(fc.oneof(fc.constant('*'), fc.constantFrom('a', 'b', 'ssn', '0', '1', '', '~0', 'a~1b', 'é')), {
    maxLength: 4,
  })
  .map((tokens) => tokens.map((token) => `/${token}`).join(''));

describe('Json.parse', () => {
  it('reads what JSON.parse reads, whatever blanks there are', async () => {
    await fc.assert(
      fc.asyncProperty(document, blanks, async (value, between) => {
        const copy = await made('json-copy', spaced(JSON.stringify(value), between));
        expect(JSON.parse(copy ?? '')).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      propertyRuns(150),
    );
  });

  it('refuses what JSON.parse refuses, of texts that are cut, doubled or changed', async () => {
    await fc.assert(
      fc.asyncProperty(document, fc.nat(), fc.nat(), fc.string({ maxLength: 2 }), async (value, at, to, put) => {
        const json = JSON.stringify(value);
        const start = at % (json.length + 1);
        const text = `${json.slice(0, start)}${put}${json.slice(start + (to % 3))}`.toWellFormed();
        const copy = await made('json-copy', text);
        const parsed = parseOnce(text);
        expect(copy === null ? undefined : JSON.parse(copy)).toEqual(parsed);
      }),
      propertyRuns(250),
    );
  });

  it.each([
    ['', null],
    [' ', null],
    ['[1,]', null],
    ['[1 2]', null],
    ['{"a":1,}', null],
    ['{"a" 1}', null],
    ['{a:1}', null],
    ["{'a':1}", null],
    ['01', null],
    ['-', null],
    ['1.', null],
    ['.5', null],
    ['+1', null],
    ['NaN', null],
    ['tru', null],
    ['nulll', null],
    ['"\u0000"', null],
    ['"\\x"', null],
    ['"\\u12"', null],
    ['// c\n1', null],
    ['[1]]', null],
    ['\ufeff{"a":1}', '{"a":1}'],
    ['{"a":12345678901234567890.10e+05}', '{"a":12345678901234567890.10e+05}'],
    ['"\\ud83d\\ude00 \\u00e9 \\/"', '"😀 é /"'],
    ['"\\ud800\\nabcdef"', '"\ufffd\\u000Aabcdef"'],
    ['"\\udc00\\ud800"', '"\ufffd\ufffd"'],
    ['"\\ud800\\u0041"', '"\ufffdA"'],
  ])('reads %j as %j', async (text, copy) => {
    expect(await made('json-copy', text)).toBe(copy);
  });

  it('refuses bytes that are not UTF-8', async () => {
    for (const bytes of [[0xc0, 0x80], [0xff], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
      expect(await made('json-copy', Buffer.from([0x22, ...bytes, 0x22]))).toBeNull();
    }
  });

  it('refuses a member that is there twice, also escaped, in small and large objects', async () => {
    expect(await made('json-copy', '{"a":1,"b":2,"a":3}')).toBeNull();
    expect(await made('json-copy', '[{"x":{"a":1,"\\u0061":3}}]')).toBeNull();
    expect(await made('json-copy', '{"a":{"a":1},"b":{"a":1}}')).not.toBeNull();
    expect(await made('json-copy', '{"\\ud800":1,"\\ud801":2}')).not.toBeNull();
    const names = Array.from({ length: 2000 }, (_, i) => `"n${(i * 7919) % 2000}":${i}`);
    expect(await made('json-at', `{${names.join()}}`, { argument: '/n0' })).toBe('0');
    expect(await made('json-at', `{${[...names, '"n77":1'].join()}}`, { argument: '/n0' })).toBeNull();
  });

  it('ends at a depth, and reads no deeper', async () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
    expect(await made('json-at', nested(1000), { argument: '/0/a' })).not.toBeNull();
    expect(await made('json-at', nested(1002), { argument: '' })).toBeNull();
    expect(await made('json-at', '['.repeat(1_000_000), { argument: '' })).toBeNull();
    expect(await made('json-edit', '['.repeat(1_000_000), { edits: [['remove', '/a']] })).toBeNull();
  });

  it('reads numbers as JSON.parse does', async () => {
    const number = async (text: string) => Number(await made('json-number', text));
    for (const text of [
      '0',
      '-0',
      '1',
      '-12.5',
      '0.1',
      '123456789012345',
      '9007199254740991',
      '1e22',
      '1.5E-5',
      '1e400',
      '0e400',
      '-1e-400',
      `0.${'0'.repeat(500)}1`,
      `1${'0'.repeat(320)}e-320`,
    ])
      expect(await number(text)).toBe(JSON.parse(text) + 0);
    await fc.assert(
      fc.asyncProperty(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 }), async (value) => {
        const read = await number(JSON.stringify(value));
        expect(Math.abs(read - value)).toBeLessThanOrEqual(Math.abs(value) * 1e-13 + 1e-320);
      }),
      propertyRuns(200),
    );
  });
});

describe('Json.matches and Json.at', () => {
  it('find what a walk of the parsed value finds', async () => {
    await fc.assert(
      fc.asyncProperty(document, path, blanks, async (value, at, between) => {
        const text = spaced(JSON.stringify(value), between);
        // Keys that are whole numbers come first in JavaScript's objects.
        const expected = valuesAt(JSON.parse(text), at);
        const found = await made('json-matches', text, { argument: at });
        expect(JSON.parse(found ?? '')).toEqual(expected);
        if (!at.includes('*')) {
          const one = await made('json-at', text, { argument: at });
          expect(one === null ? undefined : JSON.parse(one)).toEqual(expected[0]);
        }
      }),
      propertyRuns(150),
    );
  });

  it('take * for a name in a pointer', async () => {
    expect(await made('json-at', '{"a":1,"*":2}', { argument: '/*' })).toBe('2');
  });
});

describe('JsonEdit', () => {
  it('adds nothing by replace, and keeps the rest byte for byte', async () => {
    expect(await edited('{"x":1}', ['replace-text', '/ssn', '***'])).toBe('{"x":1}');
    const users = '{ "users" : [ { "ssn" : "1", "n": 1.50 } ,{"n":2}, {"ssn":{"a":[1]}}\n] }';
    expect(await edited(users, ['replace-text', '/users/*/ssn', '"*"'])).toBe(
      '{ "users" : [ { "ssn" : "\\"*\\"", "n": 1.50 } ,{"n":2}, {"ssn":"\\"*\\""}\n] }',
    );
    expect(await edited(users, ['remove-matches', '/users/*/ssn'])).toBe(
      '{ "users" : [ { "n": 1.50 } ,{"n":2}, {}\n] }',
    );
    expect(await edited('[1, 2, 3 ]', ['remove-matches', '/*'])).toBe('[ ]');
    expect(await edited('[1, 2, 3 ]', ['remove', '/2'])).toBe('[1, 2 ]');
    expect(await edited('{"a":1,"*":2}', ['remove', '/*'])).toBe('{"a":1}');
    expect(await edited('{"a":1}', ['set', '/*', 2])).toBe('{"a":1,"*":2}');
  });

  it('changes exactly the values at a path', async () => {
    await fc.assert(
      fc.asyncProperty(document, path, blanks, async (value, at, between) => {
        const text = spaced(JSON.stringify(value), between);
        const marked = await edited(text, ['replace', at, { marked: true }]);
        const before = JSON.parse(text);
        replaceAt(before, at);
        expect(JSON.parse(marked ?? '')).toEqual(at === '' ? { marked: true } : before);
        // Putting the values back gives the same bytes.
        const raws: string = (await made('json-matches', text, { argument: at })) ?? '';
        if (valuesAt(JSON.parse(text), at).length === 0) expect([marked, raws]).toEqual([text, '[]']);
        const removed = await edited(text, ['remove-matches', at]);
        if (at !== '') expect(JSON.parse(removed ?? '')).toEqual(without(JSON.parse(text), at));
      }),
      propertyRuns(150),
    );
  });

  it('changes nothing by no change', async () => {
    await fc.assert(
      fc.asyncProperty(document, blanks, async (value, between) => {
        const text = spaced(JSON.stringify(value), between);
        expect(await edited(text, ['replace', '/none/*/x', 1], ['remove', '/none/x/y'])).toBe(text);
      }),
      propertyRuns(100),
    );
  });

  it('answers null for what is not JSON, wherever it is wrong', async () => {
    for (const text of ['{"a":1,"b":}', '{"b":[1 2]}', '{"a":1]', '{"a":1}x', '{"b":{"c" 1}}', ''])
      expect(await edited(text, ['replace', '/a', 1])).toBeNull();
  });

  it('edits a body of escapes in the memory that it has', async () => {
    const text = JSON.stringify({ a: '\n'.repeat(1_000_000), b: 1 });
    expect(await edited(text, ['replace', '/b', 2])).toBe(text.replace('"b":1', '"b":2'));
  });
});

/** Undefined where the text is not JSON, or an object has a member twice. */
function parseOnce(text: string): unknown {
  try {
    let count = 0;
    const value: unknown = JSON.parse(text, (_, each) => {
      if (typeof each === 'object' && each !== null && !Array.isArray(each)) count += Object.keys(each).length;
      return each;
    });
    const members = text.replace(/"(?:[^"\\]|\\.)*"/g, 'S').match(/S\s*:/g)?.length ?? 0;
    return members === count ? value : undefined;
  } catch {
    return undefined;
  }
}

function eachParent(value: unknown, path: string, act: (parent: Record<string, unknown>, key: string) => void): void {
  const cut = path.lastIndexOf('/');
  const token = path.slice(cut + 1);
  const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
  for (const parent of valuesAt(value, path.slice(0, cut))) {
    if (typeof parent !== 'object' || parent === null) continue;
    if (token !== '*' && Array.isArray(parent) && !/^(0|[1-9]\d*)$/.test(name)) continue;
    const keys = token === '*' ? Object.keys(parent) : [name];
    for (const each of keys.toReversed()) {
      if (Object.hasOwn(parent, each)) act(parent as Record<string, unknown>, each);
    }
  }
}

function replaceAt(value: unknown, path: string): void {
  if (path === '') return;
  eachParent(value, path, (parent, name) => Object.defineProperty(parent, name, { value: { marked: true } }));
}

function without(value: unknown, path: string): unknown {
  eachParent(value, path, (parent, name) => {
    if (Array.isArray(parent)) parent.splice(Number(name), 1);
    else delete parent[name];
  });
  return value;
}
