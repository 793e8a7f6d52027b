import { describe, expect, it } from 'vitest';
import { argumentsOf, type GivenArgument } from './typed-arguments.ts';

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    price: { type: 'number' },
    on: { type: 'boolean' },
    maybe: { type: ['integer', 'null'] },
    either: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    size: { enum: ['s', 'm'] },
    level: { enum: [1, 2] },
    kind: { const: 'book' },
    tags: { type: 'array', items: { type: 'string' } },
    ids: { $ref: '#/$defs/ids' },
    where: { type: 'object' },
    any: {},
  },
  $defs: { ids: { type: 'array', items: { $ref: '#/$defs/id' } }, id: { type: 'integer' } },
};

const given = (...texts: readonly string[]) =>
  texts.map((text): GivenArgument => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]);
/** As it is sent. */
const sent = (schema: unknown, ...texts: readonly string[]) => JSON.stringify(argumentsOf(given(...texts), schema));

it.each([
  ['text=7', '{"text":"7"}'],
  ['text=', '{"text":""}'],
  ['text=a=b', '{"text":"a=b"}'],
  ['count=7', '{"count":7}'],
  ['count=12345678901234567890', '{"count":12345678901234567890}'],
  ['price=1e3', '{"price":1e3}'],
  ['on=true', '{"on":true}'],
  ['maybe=null', '{"maybe":null}'],
  ['either=7', '{"either":"7"}'],
  ['size=m', '{"size":"m"}'],
  ['level=2', '{"level":2}'],
  ['kind=book', '{"kind":"book"}'],
  ['tags=a', '{"tags":["a"]}'],
  ['tags=["a","b"]', '{"tags":["a","b"]}'],
  ['ids=7', '{"ids":[7]}'],
  ['where={"a":[1]}', '{"where":{"a":[1]}}'],
  ['any=7', '{"any":7}'],
  ['any=seven', '{"any":"seven"}'],
])('%s is %s', (text, json) => {
  expect(sent(SCHEMA, text)).toBe(json);
});

it('a list is given an item at a time', () => {
  expect(sent(SCHEMA, 'ids=1', 'ids=2', 'tags=a', 'tags=[b')).toBe('{"ids":[1,2],"tags":["a","[b"]}');
});

it.each([
  [['count=seven'], 'argument "count" must be of type integer, not "seven"'],
  [['count=true'], 'argument "count" must be of type integer'],
  [['where=7'], 'argument "where" must be of type object'],
  [['where=12345678901234567890'], 'argument "where" must be of type object'],
  [['ids=x'], 'argument "ids" must be of type integer'],
  [['count=1', 'count=2'], 'argument "count" takes one value, but 2 are given'],
  [['cuont=1'], 'there is no argument "cuont": did you mean count?'],
  [['zzzzzz=1'], 'there is no argument "zzzzzz": the tool takes text, count,'],
])('%j is refused: %s', (texts, told) => {
  expect(() => argumentsOf(given(...texts), SCHEMA)).toThrow(told);
});

describe('of a schema that', () => {
  it('is not known, they are JSON, else text', () => {
    expect(sent(undefined, 'a=7', 'b=x')).toBe('{"a":7,"b":"x"}');
  });

  it('leads in circles, they have what types it names', () => {
    const loop = { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] };
    const schema = { properties: { x: loop }, $defs: { a: loop, b: { oneOf: [loop, loop, { type: 'integer' }] } } };
    expect(sent(schema, 'x=7')).toBe('{"x":7}');
  });

  it.each([[{ properties: 7 }], [{ properties: { x: { $ref: '#/nowhere', anyOf: 7, type: {} } } }], [[]], [null]])(
    'is nonsense, such as %j, they are sent as well',
    (schema) => {
      expect(sent(schema, 'x=7', '__proto__=1')).toBe('{"x":7,"__proto__":1}');
    },
  );
});
