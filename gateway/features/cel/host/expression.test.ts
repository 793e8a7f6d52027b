import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { inTime } from '../../../../test/time-limit.ts';
import type { RequestInit } from '../../../sdk/testing/kit.ts';
import { recordedExchange } from '../../../sdk/testing/recorder.ts';
import { compileCondition, ExpressionError } from './expression.ts';
import { MOST_STEPS } from './meter.ts';
import { requestValue } from './request-view.ts';

const order = {
  method: 'POST',
  path: '/orders/7?tag=a&tag=b&limit=20',
  headers: {
    'content-type': 'application/json',
    'x-tenant': 'acme',
    'x-auth-consumer': 'alice',
    'x-auth-consumer-groups': 'admins, editors,',
    'x-auth-claims': '{"iss":"me","age":30,"roles":["a"],"nested":{"k":null}}',
  },
  operation: { path: '/orders/{id}', params: { id: '7' } },
  body: '{"model":"large","n":5,"items":[{"price":10},{"price":250}],"constructor":{"name":"x"},"nothing":null,"numbered":{"7":1}}',
} satisfies RequestInit;

function evaluate(text: string, init: RequestInit = order) {
  const exchange = recordedExchange(init);
  exchange.body = init.body === undefined ? null : Buffer.from(init.body);
  return compileCondition(text).evaluate(requestValue(exchange).value);
}
const holds = (text: string, init?: RequestInit) => evaluate(text, init).matches;

function refused(text: string): ExpressionError {
  try {
    compileCondition(text);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error(`"${text}" compiles`);
}

describe('what expressions read', () => {
  it.each([
    'request.method == "POST"',
    'request.path.startsWith("/orders/")',
    'request.path_params.id == "7"',
    'int(request.path_params["id"]) + 1 == 8',
    'request.query.tag == ["a", "b"]',
    'request.query["limit"][0] == "20"',
    '!("admin" in request.query)',
    'request.headers["x-tenant"] == "acme"',
    'request.headers["X-Tenant"] == "acme"',
    'has(request.headers.accept) == false',
    'request.body_json.model == "large"',
    'request.body_json.n == 5',
    'request.body_json.n + 1.0 == 6.0',
    'request.body_json.items.exists(i, i.price > 200)',
    'has(request.body_json.nothing) && request.body_json.nothing == null',
    'request.body_json.constructor.name == "x"',
    '!has(request.body_json.toString)',
    '!has(request.body_json.items[0].name) && size(request.body_json.items) == 2 && request.body_json.items[1].price == 250',
    '!(7 in request.body_json.numbered) && "7" in request.body_json.numbered',
    'request.claims.iss == "me" && request.claims.age >= 18',
    '"a" in request.claims.roles',
    'has(request.claims.nested.k)',
    'request.consumer == "alice"',
    'request.groups == ["admins", "editors"]',
    'request.client_ip == "192.0.2.1"',
    'request.time > timestamp("2024-01-01T00:00:00Z")',
    'request.time - request.time == duration("0s")',
  ])('%s', (text) => {
    expect(evaluate(text)).toMatchObject({ matches: true, error: null });
  });

  // docs/decisions.md#identity-headers
  it('has names of callers as they are, not as headers encode them', () => {
    const headers = { 'x-auth-consumer': 'zo%C3%AB', 'x-auth-consumer-groups': 'Vertrieb%2C K%C3%B6ln,100%25' };
    expect(holds('request.consumer == "zoë"', { headers })).toBe(true);
    expect(holds('request.groups == ["Vertrieb, Köln", "100%"]', { headers })).toBe(true);
    // Another one, whose name reads like zoë's encoded.
    expect(holds('request.consumer == "zoë"', { headers: { 'x-auth-consumer': 'zo%25C3%25AB' } })).toBe(false);
  });

  it.each([
    'request.body_json == null',
    'request.consumer == ""',
    'size(request.groups) == 0',
    'size(request.claims) == 0 && !has(request.claims.iss)',
    'size(request.query) == 0',
    'size(request.path_params) == 0',
  ])('of a request that has none of it: %s', (text) => {
    expect(evaluate(text, {})).toMatchObject({ matches: true, error: null });
  });

  it('says what of a request they need', () => {
    const { parts, headers } = compileCondition(
      'request.headers["X-A"] == "1" || has(request.headers.b) || "c" in request.headers || request.claims.d == 1',
    );
    expect([...parts].sort()).toEqual(['claims', 'headers']);
    expect([...headers].sort()).toEqual(['b', 'c', 'x-a']);
  });
});

describe('the language', () => {
  it.each([
    ['operators', '1 + 2 * 3 - 8 / 4 % 3 == 5 && -7 / 2 == -3 && 2 <= 2 && !(1 > 2) && 1u + 2u == 3u'],
    ['numbers of different types', '1 == 1.0 && 2u > 1 && 1.5 < 2'],
    ['conditions', '(true ? "a" : "b") == "a"'],
    ['or and and, whatever order', '(1 / 0 == 1 || true) && !(1 / 0 == 1 && false)'],
    ['lists', '[1, 2] + [3] == [1, 2, 3] && [1, 2][1] == 2 && 3 in [1, 2, 3] && size([]) == 0'],
    ['maps', '{"a": 1, "b": 2}.b == 2 && "a" in {"a": null} == true && size({1: 2}) == 1 && {"a": 1}["a"] == 1'],
    ['has', 'has({"a": 1}.a) && !has({"a": 1}.b)'],
    ['all', '[1, 2].all(x, x > 0) && ![1, 2].all(x, x > 1) && [].all(x, false)'],
    ['exists', '[1, 2].exists(x, x == 2) && {"a": 1}.exists(k, k == "a")'],
    ['exists_one', '[1, 2, 2].exists_one(x, x == 1) && ![2, 2].exists_one(x, x == 2)'],
    ['map', '[1, 2].map(x, x * 2) == [2, 4] && [1, 2, 3].map(x, x > 1, x * 2) == [4, 6]'],
    ['filter', '[1, 2, 3].filter(x, x > 1) == [2, 3]'],
    [
      'macros in macros',
      '[[1, 2], [3]].map(l, l.map(x, x + 1)) == [[2, 3], [4]] && [1, 2].map(x, [x].filter(y, y > 1)) == [[], [2]]',
    ],
    ['names of macros hide those outside', '[1].exists(request, request == 1)'],
    ['text', '"abc".contains("b") && "abc".endsWith("c") && "é".size() == 1 && size("日本") == 2 && "a" + "b" < "b"'],
    ['escapes', '"\\u00e9\\n" == "é\\n" && r"\\d" == "\\\\d" && b"a" == b"\\x61" && """a"b""" == "a\\"b"'],
    ['functions on strings', '"a,b".split(",") == ["a", "b"] && ["a", "b"].join("-") == "a-b" && " x ".trim() == "x"'],
    [
      'more of them',
      '"Ab".lowerAscii() == "ab" && "aXbX".replace("X", "$&") == "a$&b$&" && "hello".substring(1, 3) == "el"',
    ],
    [
      'patterns',
      '"abc".matches("^a.c$") && matches("xabcx", "b") && !"abc".matches("^b") && ["^a", "^b"].exists(p, "bc".matches(p))',
    ],
    [
      'timestamps',
      'timestamp("2026-03-01T10:30:15.5Z").getHours() == 10 && timestamp("2026-03-01T10:00:00Z").getMonth() == 2',
    ],
    [
      'clocks of other places',
      'timestamp("2026-03-01T23:30:00Z").getDate("+01:00") == 2 && timestamp("2026-07-01T12:00:00Z").getHours("Europe/Berlin") == 14',
    ],
    [
      'days',
      'timestamp("2026-03-01T00:00:00Z").getDayOfWeek() == 0 && timestamp("2026-03-01T00:00:00Z").getFullYear() == 2026',
    ],
    [
      'durations',
      'duration("1h30m") == duration("90m") && duration("1.5s").getMilliseconds() == 500 && duration("2h").getMinutes() == 120',
    ],
    ['sums of times', 'timestamp("2026-03-01T00:00:00Z") + duration("24h") == timestamp("2026-03-02T00:00:00Z")'],
    [
      'seconds since the epoch',
      'timestamp(86400) == timestamp("1970-01-02T00:00:00Z") && int(timestamp("1970-01-02T00:00:00Z")) == 86400',
    ],
    [
      'conversions',
      'int("-5") == -5 && uint("7") == 7u && double("1.5e1") == 15.0 && string(12) == "12" && bool("true") && int(3.9) == 3',
    ],
    [
      'types',
      'type(1) == int && type([]) == list && type(request.body_json.n) == double && type("") != bytes && type(type(1)) == type',
    ],
    ['dyn', 'dyn(1) == 1 && dyn("a") != 1'],
  ])('%s', (_, text) => {
    expect(evaluate(text)).toMatchObject({ matches: true, error: null });
  });

  it.each([
    ['a key that is missing', 'request.claims.tenant == "x"', 'line 1, column 15: there is no such element'],
    ['an index past the end', 'request.query.tag[5] == "x"', 'there is no such element'],
    [
      'a value of another type',
      'request.body_json.model > 5',
      /found no matching overload for '_>_' applied to '\(string, int\)'/,
    ],
    ['division by zero', '1 / (size(request.groups) - 2) == 1', 'divide by zero'],
    ['overflow', '9223372036854775807 + size(request.groups) == 1', 'int overflow'],
    ['text that is no number', 'int(request.headers["x-tenant"]) > 1', 'the text is not an integer'],
    ['text that only JavaScript takes for one', 'int("") == 0', 'the text is not an integer'],
    ['no double', 'double("x") > 1.0', 'the text is not a double'],
    [
      'a pattern from outside',
      '"a".matches(request.headers["x-tenant"])',
      'a pattern must be a literal in the expression',
    ],
    ['no bool', 'request.body_json.model', 'not a bool'],
  ])('cannot be evaluated: %s', (_, text, why) => {
    const { matches, error } = evaluate(text);
    expect(matches).toBeNull();
    expect(error).toMatch(why);
    expect(error).not.toMatch(/acme|large/);
  });

  it('says which part is not JSON', () => {
    expect(evaluate('request.body_json.a == 1', { body: '{"a":' }).error).toContain('request.body_json is not JSON');
  });
});

describe('what is refused before any request', () => {
  it.each([
    ['request.method = "GET"', 1, 16, 'found'],
    ['request.method == "GET"\n  && nosuch', 2, 6, 'there is no variable nosuch'],
    ['request.body.x == 1', 1, 8, 'a request has no body: there are request.method'],
    ['request == 1', 1, 1, 'name a part of the request'],
    ['request.method == 5', 1, 16, 'values of type string and int are never equal'],
    ['request.consumer == null', 1, 18, 'never equal'],
    ['request.method.foo(1)', 1, 15, 'there is no function foo'],
    ['request.path.startsWith(1)', 1, 13, 'startsWith does not accept, on a value of type string, (int)'],
    ['request.method && true', 1, 8, 'a condition is a bool'],
    ['request.query.limit > 5', 1, 21, '> does not accept, (list(string), int)'],
    ['request.method.length == 3', 1, 15, 'has no field length'],
    ['request.path', 1, 8, 'a condition is a bool, and this is a value of type string'],
    ['request.method.all(x, x == 1)', 1, 8, 'a macro goes through a list or map'],
    ['request.groups["a"] == ""', 1, 16, 'has no elements by string'],
    ['[1].map(x, x + "a") == [1]', 1, 13, '+ does not accept, (int, string)'],
    ['request.path.matches("(?=a)")', 1, 22, 'this is not an RE2 pattern'],
    [`request.path.matches("${'(a{1000})'.repeat(200)}")`, 1, 22, 'longer than 1000 characters'],
    ['x'.repeat(20_000), 1, 1, 'longer than 16384'],
    [`${'('.repeat(8_000)}1${')'.repeat(8_000)}`, 1, 1, 'nested too deeply'],
    ['', 1, 1, 'found'],
  ])('%.50s', (text, line, column, reason) => {
    const error = refused(text);
    expect(error.reason).toContain(reason);
    expect([error.line, error.column]).toEqual([line, column]);
  });
});

describe('what an evaluation may cost', () => {
  const numbers = (n: number) => ({ body: JSON.stringify({ list: Array.from({ length: n }, (_, i) => i) }) });

  it('goes through a large list once', () => {
    expect(holds('request.body_json.list.all(x, x >= 0.0)', numbers(2_000))).toBe(true);
    expect(holds('size(request.body_json.list.map(x, x).filter(x, x >= 0.0)) == 750', numbers(750))).toBe(true);
  });

  it('charges a pattern by its states, not only by the length of the text', () => {
    const init = { ...order, body: JSON.stringify({ tag: `${'ab'.repeat(500)}c` }) };
    const expression = (states: number) => `request.body_json.tag.matches("a[ab]{${states}}c")`;
    expect(evaluate(expression(5), init).error).toBeNull();
    expect(evaluate(expression(700), init).error).toBe(`takes more than ${MOST_STEPS} steps`);
  });

  it.each([
    'request.body_json.list.all(x, request.body_json.list.exists(y, y == x))',
    'request.body_json.list.map(x, request.body_json.list.map(y, y + x)) == []',
    'true || request.body_json.list.all(x, x in request.body_json.list)',
    'request.body_json.list.all(x, request.body_json.list.all(y, request.body_json.list.all(z, 1 / 0 == 1)))',
    'request.body_json.list.all(x, request.body_json == request.body_json)',
  ])('stops: %s', (text) => {
    const { matches, error } = inTime(() => evaluate(text, numbers(20_000)), 1_000);
    // The second is of those whose dear half `||` leaves out.
    if (text.startsWith('true')) return expect(matches).toBe(true);
    expect([matches, error]).toEqual([null, `takes more than ${MOST_STEPS} steps`]);
  });

  it('charges for text by length', () => {
    const body = JSON.stringify({ text: 'a'.repeat(1_000_000), list: Array.from({ length: 100 }, () => 'x') });
    expect(holds('request.body_json.text.contains("b")', { body })).toBe(false);
    expect(evaluate('request.body_json.text.matches("(a+)+b")', { body }).error).toContain('steps');
    expect(evaluate('request.body_json.text.replace("a", request.body_json.text) == ""', { body }).error).toContain(
      'steps',
    );
    expect(evaluate('request.body_json.list.all(x, request.body_json.text.contains("b"))', { body }).matches).toBe(
      false,
    );
    expect(evaluate('request.body_json.list.all(x, !request.body_json.text.contains("b"))', { body }).error).toContain(
      'steps',
    );
  });

  it('matches patterns in linear time', () => {
    const body = JSON.stringify({ text: `${'a'.repeat(30_000)}!` });
    expect(inTime(() => holds('request.body_json.text.matches("^(a+)+$")', { body }), 1_000)).toBe(false);
  });

  it('survives bodies that are nested without end', () => {
    const body = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(evaluate('request.body_json == [1]', { body }).matches).not.toBe(true);
    expect(evaluate('request.body_json == request.body_json', { body }).matches).not.toBe(false);
  });
});

it('says that claims cannot be read if they were too long for their header', () => {
  const exchange = recordedExchange({});
  exchange.claimsLeftOut = true;
  const request = requestValue(exchange);
  const { matches, error } = compileCondition('request.claims.tier == "free"').evaluate(request.value);
  expect([matches, error, request.isUnreadable]).toEqual([
    null,
    'line 1, column 21: request.claims is too long for its header',
    true,
  ]);
});

it('never throws but for what is no expression, and never for a request', () => {
  const condition = compileCondition(
    'request.body_json.a.exists(x, x.b > 1) || request.body_json.c + "x" == "yx" || request.body_json.d in request.claims',
  );
  fc.assert(
    fc.property(fc.json(), fc.string(), (body, claims) => {
      const exchange = recordedExchange({ headers: { 'x-auth-claims': claims } });
      exchange.body = Buffer.from(body);
      const { matches, error } = condition.evaluate(requestValue(exchange).value);
      expect(matches === null).toBe(error !== null);
    }),
    propertyRuns(300),
  );
  const pieces = [
    'request',
    '.',
    'method',
    'body_json',
    '(',
    ')',
    '[',
    ']',
    '==',
    '&&',
    '"a"',
    '1',
    'x',
    ',',
    'all',
    'has',
    '!',
    '{',
    '}',
    ':',
    '?',
    ' ',
    '+',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 25 }), (parts) => {
      try {
        compileCondition(parts.join(''));
      } catch (error) {
        expect(error).toBeInstanceOf(ExpressionError);
      }
    }),
    propertyRuns(300),
  );
});

it('tells the time by no clock of the host', () => {
  const zone = process.env['TZ'];
  process.env['TZ'] = 'Europe/Berlin';
  try {
    // There is no 2:30 in Berlin on this day.
    expect(holds('timestamp("2026-03-29T02:30:00Z").getHours() == 2')).toBe(true);
    expect(holds('timestamp("2026-03-29T01:30:00Z").getHours("Europe/Berlin") == 3')).toBe(true);
    expect(holds('timestamp("0001-01-01T00:00:00Z").getFullYear("UTC") == 1')).toBe(true);
    expect(holds('timestamp("2026-12-31T23:00:00Z").getDayOfYear("-02:00") == 364')).toBe(true);
    expect(evaluate('request.time.getHours("Nowhere/None") == 2').matches).toBeNull();
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});
