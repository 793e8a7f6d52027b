import { describe, expect, it } from 'vitest';
import { MOST_JSON_BYTES, scanJson } from './json-scan.ts';
import { parseOnce, parseScanned } from './parse-once.ts';

const scanOf = (text: string) => scanJson(Buffer.from(text));
const MILLION = 1_000_000;
const list = (count: number, item: (n: number) => string) => `[${Array.from({ length: count }, (_, n) => item(n))}]`;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

// docs/decisions.md#json-cost
describe('JSON of a server', () => {
  it.each([
    ['lists', list(MILLION, () => '[]')],
    ['objects', list(MILLION, () => '{}')],
    ['nesting', nested(10_000)],
    ['nesting again and again', list(5_000, () => nested(250))],
    ['names', `{${list(100_000, (n) => `"k${n}":0`).slice(1, -1)}}`],
    ['names that are numbers', `{${list(100_000, (n) => `"${n * 7919}":0`).slice(1, -1)}}`],
    ['names with escapes', list(20_000, (n) => `{"\\u006b${n}":0}`)],
    ['one name with an escape before many values', `{"\\u006b":${list(MILLION, () => '1')}}`],
    ['objects of other names', list(100_000, (n) => `{"k${n}":0}`)],
    ['orders of names', list(9_000, (n) => `{${ordered(n)}}`)],
    ['texts', list(MILLION, (n) => `"${n}"`)],
    ['numbers', list(3 * MILLION, () => '1')],
    ['bytes', `"${'x'.repeat(MOST_JSON_BYTES)}"`],
  ])('is not parsed if it takes long: %s', (_, text) => {
    expect(scanOf(text).isTooCostly).toBe(true);
  });

  it.each([
    ['a body of 6 MiB', JSON.stringify({ statusCode: 200, body: 'x'.repeat(6 << 20) })],
    ['JSON in a body', JSON.stringify({ statusCode: 200, body: list(100_000, (n) => `{"id":${n},"name":"some"}`) })],
    ['records', list(15_000, (n) => `{"id":${n},"name":"name ${n}","price":12.5,"tags":["a","b"]}`)],
    ['vectors', list(200, () => list(1536, () => '-0.012345678'))],
    [
      'chances of tokens',
      list(15_000, (n) => `{"token":" word${n}","logprob":-0.5,"bytes":[1,2],"top":[{"token":"a"}]}`),
    ],
    ['white space', `[${' '.repeat(6 << 20)}]`],
  ])('is parsed if it is what servers say: %s', (_, text) => {
    expect(scanOf(text).isTooCostly).toBe(false);
  });

  it('counts what its values take', () => {
    const text = list(100_000, () => '[]');
    expect(scanOf(text).heapBytes).toBeGreaterThan(20 * text.length);
    expect(scanOf(`"${'x'.repeat(100_000)}"`).heapBytes).toBeLessThan(3 * 100_000);
  });

  it.each([
    '{}',
    '[1,"a",{"b":null,"c":[true,-1.5e3]}]',
    ' { "a" : { "b" : "c:d,e}" } , "f" : "\\"g\\":" } ',
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"__proto__":1,"toString":{"a":[]}}',
    '{"é":"\\ud83d\\ude00","":{"":0}}',
    '"text"',
    '12',
    '{"a":1',
    '[1,]',
    '',
    '{"a" "b"}',
    '\ufeff{"a":1}',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
  ])('is what it is without a scan: %s', (text) => {
    const bytes = Buffer.from(text);
    expect(outcome(() => parseScanned(bytes, scanJson(bytes)))).toEqual(outcome(() => parseOnce(bytes)));
  });
});

/** Eight members in the nth of their orders. */
function ordered(n: number): string {
  const names = [...'abcdefgh'];
  const members: string[] = [];
  for (let left = n; names.length > 0; left = Math.floor(left / (names.length + 1))) {
    members.push(...names.splice(left % names.length, 1).map((name) => `"${name}":0`));
  }
  return members.join(',');
}

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    return { error: error instanceof Error ? error.name : error };
  }
}
