/**
 * The llhttp that undici carries, and what it accepts. An update of undici that brings another build fails here: then
 * run the fuzzer for long (`GW_FUZZ_SECONDS`), compare the table below, and write down the new sum and version.
 */
import { createHash } from 'node:crypto';
import wasm from 'undici/lib/llhttp/llhttp_simd-wasm.js';
import { describe, expect, it } from 'vitest';
import { type Kind, readPieces } from '../../../test/http1/reading.ts';
import { RESPONSES } from '../../../test/http1/responses.ts';
import { CASES } from '../../../test/smuggling/cases.ts';
import { AFTER } from '../../../test/smuggling/message.ts';

/** By `deps/llhttp` of undici's repository, which has the same build; Node.js 26.10 carries 9.4.3. */
const LLHTTP = {
  version: '9.3.1',
  sha256: '18403ee56fab07f89a845028bad358bb3ebcda213f8e2ec0989a991e9c33da69',
};

const NODE_HEAD_BYTES = 16 << 10;

/** Cases of the smuggling suite that the gateway refuses, for reasons that are no concern of a parser. */
const REFUSED_BEHIND_THE_PARSER: ReadonlySet<string> = new Set([
  ...['missing', 'missing in HTTP/1.1 with an absolute target', 'twice, equal', 'twice, different', 'a list'].map(host),
  ...['white space inside', 'a path', 'user information', 'a port that is not a number', 'a query'].map(host),
  host('a broken IPv6 address'),
  'Transfer-Encoding in HTTP/1.0',
  'request line: the absolute form with another host than Host',
  'request line: the absolute form of another scheme',
  'request line: the absolute form with user information',
  'request line: CONNECT',
  'request line: HTTP/0.9 with a version',
  'request line: HTTP/2.0',
  'the body of a refused request is no request',
]);

/** Cases that the parser refuses, and the gateway served while it read requests with node:http. */
const REFUSED_BY_THIS_BUILD: ReadonlySet<string> = new Set(['Content-Length: white space around']);

function host(name: string): string {
  return `Host: ${name}`;
}

describe(`llhttp ${LLHTTP.version}`, () => {
  it('is the build that was examined', () => {
    expect(createHash('sha256').update(wasm).digest('hex')).toBe(LLHTTP.sha256);
  });
});

describe('requests of the smuggling suite', () => {
  it.each(CASES)('$name', ({ name, bytes, answers }) => {
    const { messages, failure } = read('request', `${bytes}GET /after HTTP/1.1\r\nHost: a\r\n\r\n`);
    const taken = messages.filter(({ end, target }) => end >= 0 && target !== '/after').length;
    const isRefused = failure !== null && failure !== 'HPE_CLOSED_CONNECTION' && failure !== 'HPE_INVALID_EOF_STATE';
    expect({ isRefused, taken }).toEqual(expected(name, answers));
  });

  it('are named as they are called', () => {
    const names = CASES.map((each) => each.name);
    expect(names).toEqual(expect.arrayContaining([...REFUSED_BEHIND_THE_PARSER, ...REFUSED_BY_THIS_BUILD]));
  });
});

describe('responses', () => {
  it.each(RESPONSES)('%j: %j', (verdict, bytes) => {
    const { messages, failure } = read('response', bytes);
    expect(failure ?? messages.length).toBe(verdict);
  });
});

/** By what the gateway answers: a refusal without another request behind it ends the connection. */
function expected(name: string, answers: readonly string[]): { isRefused: boolean; taken: number } {
  if (REFUSED_BY_THIS_BUILD.has(name)) return { isRefused: true, taken: 0 };
  if (REFUSED_BEHIND_THE_PARSER.has(name)) return { isRefused: false, taken: 1 };
  const served = answers.filter((each) => each !== AFTER);
  const last = served.at(-1) ?? '';
  // Its rest never comes.
  if (last === '408' || name === 'Content-Length: larger than --max-body-size')
    return { isRefused: false, taken: served.length - 1 };
  const isRefused = (last === '400' || last === '431' || last === 'not HTTP/1.1') && !answers.includes(AFTER);
  return { isRefused, taken: isRefused ? served.length - 1 : served.length };
}

function read(kind: Kind, text: string) {
  const options = { kind, mostHeadBytes: NODE_HEAD_BYTES, answersHead: false };
  return readPieces([Buffer.from(text, 'latin1')], options);
}
