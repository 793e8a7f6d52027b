/** Messages of MCP as nobody should send them, with the headers of one era or of both. */
import fc from 'fast-check';
import { mutated } from '../mutations.ts';

/** JSON that is written by hand: members may come twice, numbers may be what no double is. */
type Written = string;

const object = (members: readonly (readonly [name: string, value: Written])[]): Written =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;

const json = (value: unknown): Written => JSON.stringify(value);
const nested = (depth: number, open: string, close: string): Written => open.repeat(depth) + close.repeat(depth);

const REVISIONS = [
  '2026-07-28',
  '2026-07-28',
  '2026-07-28',
  '2025-11-25',
  '2025-06-18',
  '2024-11-05',
  '9999-12-31',
  '',
  'x',
  '__proto__',
];
const TOOLS = [
  'echo',
  'echo',
  'echo',
  'hold',
  'call_tool',
  'search_tools',
  '__proto__',
  'constructor',
  '',
  'ECHO',
  'echo\n',
];
const METHODS = [
  ...['initialize', 'ping', 'server/discover', 'tools/list', 'tools/call', 'subscriptions/listen', 'logging/setLevel'],
  ...['tools/call', 'tools/call', 'tools/call', 'tools/call', 'tools/call', 'notifications/cancelled'],
  ...['prompts/list', 'prompts/get', 'resources/list', 'resources/templates/list', 'resources/read'],
  ...['completion/complete', 'notifications/cancelled', 'notifications/initialized', 'notifications/progress'],
  ...['__proto__', 'constructor', 'toString', '', 'tools/call ', 'TOOLS/CALL', 'x'.repeat(5000), '\u2028'],
];
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('a\r\nb: c', '..', '\ud800', '\0'),
);

const value: fc.Arbitrary<Written> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.constantFrom(json('x'.repeat(300)), nested(60, '[', ']'), nested(300, '[', ']')),
  },
  { weight: 60, arbitrary: fc.jsonValue({ maxDepth: 3 }).map(json) },
  { weight: 40, arbitrary: anyText.map(json) },
  {
    weight: 40,
    arbitrary: fc.constantFrom<Written>(
      ...['null', '[]', '{}', '-0', '1e400', '1e-400', '9007199254740993', '1.5', '7', '"7"', '0', '-1', 'true', '""'],
      '{"__proto__":{"isError":true}}',
      '{"rawJSON":"1"}',
    ),
  },
);

const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, arbitrary);

/** `victim`: the id of a request of another client that is under way. */
const idOf = (victim: string) => fc.oneof({ weight: 9, arbitrary: fc.constantFrom(victim, '1', '"1"') }, value);

const named = (names: readonly string[]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names).map(json) }, value);
const members = (...of: readonly (readonly [string, fc.Arbitrary<Written>])[]) =>
  fc
    .tuple(...of.map(([, each]) => fc.option(each, { nil: null, freq: 20 })))
    .map((values) => values.flatMap((each, i) => (each === null ? [] : [[of[i]?.[0] ?? '', each] as const])));
/** An object that has some of these members, and seldom one twice or one that nobody knows. */
const objectWith = (...of: readonly (readonly [string, fc.Arbitrary<Written>])[]): fc.Arbitrary<Written> =>
  fc.tuple(members(...of), seldom(fc.tuple(anyText, value)), fc.nat(600), value).map(([known, more, twice, again]) => {
    const repeated = known[twice];
    return object([...known, ...(more ? [more] : []), ...(repeated ? [[repeated[0], again] as const] : [])]);
  });

const args = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('{"id":"1"}', '{"id":"1","list":[9007199254740993]}', '{}') },
  {
    weight: 4,
    arbitrary: objectWith(
      ['id', value],
      ['list', value],
      ['filter', value],
      ['body', value],
      ['x-note', value],
      ['name', named(TOOLS)],
      ['arguments', value],
    ),
  },
  { weight: 1, arbitrary: value },
);
const PREFIX = 'io.modelcontextprotocol/';
const meta = objectWith(
  [`${PREFIX}protocolVersion`, fc.oneof({ weight: 9, arbitrary: fc.constant('"2026-07-28"') }, named(REVISIONS))],
  [`${PREFIX}clientCapabilities`, fc.oneof({ weight: 9, arbitrary: fc.constant('{}') }, value)],
  [`${PREFIX}clientInfo`, fc.oneof(fc.constant('{"name":"n","version":"1"}'), value)],
  [`${PREFIX}logLevel`, value],
  ['progressToken', value],
);
const params = (victim: string) =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: objectWith(
        ['_meta', fc.oneof({ weight: 15, arbitrary: meta }, value)],
        ['name', named(TOOLS)],
        ['arguments', args],
        ['cursor', value],
        ['protocolVersion', named(REVISIONS)],
        ['capabilities', fc.oneof({ weight: 9, arbitrary: fc.constant('{}') }, value)],
        ['clientInfo', fc.oneof({ weight: 9, arbitrary: fc.constant('{}') }, value)],
        ['requestId', idOf(victim)],
        ['notifications', fc.oneof(fc.constant('{"toolsListChanged":true}'), value)],
        ['uri', value],
        ['ref', value],
        ['level', value],
      ),
    },
    { weight: 1, arbitrary: value },
  );

const message = (victim: string) =>
  fc.oneof(
    {
      weight: 12,
      arbitrary: objectWith(
        ['jsonrpc', fc.oneof({ weight: 12, arbitrary: fc.constant('"2.0"') }, value)],
        ['id', idOf(victim)],
        ['method', named(METHODS)],
        ['params', params(victim)],
        ['result', fc.constantFrom<Written>('{}', 'null')],
      ),
    },
    { weight: 1, arbitrary: value },
  );

const VALID = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"id":"1","list":[1]}}}',
  '{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}',
].map((text) => Buffer.from(text));
const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\u',
  ',',
  ':',
  '"id"',
  'null',
  '\xff',
  '\xed\xa0\x80',
  '\xef\xbb\xbf',
  '1e999',
];

/** The body of a request. */
export function hostileBody(victim: string): fc.Arbitrary<Buffer> {
  const text = message(victim).map((each) => Buffer.from(each));
  const batch = fc.array(message(victim), { maxLength: 4 }).map((each) => Buffer.from(`[${each.join(',')}]`));
  return fc.oneof(
    { weight: 10, arbitrary: text },
    { weight: 1, arbitrary: batch },
    { weight: 2, arbitrary: mutated(VALID, TOKENS) },
  );
}

/** Line breaks, which no HTTP parser lets into a value. */
const BREAKS = /[\r\n\0]/g;
const headerText = fc.oneof(anyText, fc.constantFrom('=?base64?!?=', `=?base64?${btoa('echo')}?=`, 'x'.repeat(2000)));
const header = (name: string, ...values: readonly string[]) =>
  seldom(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...values) }, headerText)).map((text) =>
    text === null ? [] : [name, text.replace(BREAKS, '')],
  );

/** Lower-case names and values, in turn: what stands before the headers that a client sends, and counts in their place. */
export const hostileHeaders: fc.Arbitrary<string[]> = fc
  .tuple(
    header('content-type', 'application/json; charset=utf-8', 'text/plain'),
    header('accept', '*/*', 'text/event-stream', 'application/json'),
    header('mcp-session-id', '00000000-0000-0000-0000-000000000000', ''),
    header('mcp-protocol-version', ...REVISIONS),
    header('mcp-method', ...METHODS.filter((each) => each.length < 100)),
    header('mcp-name', ...TOOLS),
    header('origin', 'https://chat.example', 'https://evil.example', 'http://localhost', 'null'),
    header('host', 'localhost', 'api.example'),
    header('content-encoding', 'gzip'),
    header('traceparent', 'x'),
  )
  .map((each) => each.flat());

/** Headers that say of a message of revision 2026-07-28 what its body does, where that is to be told. */
export function matchingHeaders(body: Buffer): string[] {
  try {
    const { method, params } = JSON.parse(body.toString());
    const encoded = (text: string) =>
      /^[\x21-\x7e]+$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
    const name = params?.name ?? params?.uri;
    return [
      ...['mcp-protocol-version', String(params?._meta?.[`${PREFIX}protocolVersion`] ?? '2026-07-28')],
      ...['mcp-method', encoded(String(method))],
      ...(typeof name === 'string' ? ['mcp-name', encoded(name)] : []),
    ].map((text) => text.replace(BREAKS, ''));
  } catch {
    return [];
  }
}
