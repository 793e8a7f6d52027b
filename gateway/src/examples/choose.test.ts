/** Which response, which media type, and how its body is written. */
import { describe, expect, it } from 'vitest';
import { configuredResponse, usualResponse } from './choose-response.ts';
import { chooseType } from './choose-type.ts';
import { preferenceOf } from './example-responses.ts';
import { renderBody } from './render.ts';

const described = (...statuses: string[]) => Object.fromEntries(statuses.map((status) => [status, { content: {} }]));

describe('the response', () => {
  it.each([
    [['404', '201', '202'], 201],
    [['DEFAULT', '404'], 200],
    [['2XX', '404'], 200],
    [['301', '404'], 301],
    [['404', '500'], 404],
    [['101', '5XX'], 500],
    [[], undefined],
  ])('of %j is %j where nobody names one', (statuses, status) => {
    expect(usualResponse(described(...statuses))?.status).toBe(status);
  });

  it.each([
    [['200', '404'], 404, 404],
    [['200', '4XX'], 418, 418],
    [['200', 'DEFAULT'], 503, 503],
    [['200'], 404, undefined],
    [['201'], 200, 201],
    [['201', 'DEFAULT'], 200, 201],
  ])('of %j for a config with %j is %j', (statuses, status, is) => {
    expect(configuredResponse(described(...statuses), status)?.status).toBe(is);
  });
});

describe('the media type', () => {
  it.each([
    [['application/json', 'text/csv'], undefined, 'application/json'],
    [['application/json', 'text/csv'], 'text/csv', 'text/csv'],
    [['application/json', 'text/csv'], 'application/json;q=0.5, text/*', 'text/csv'],
    [['application/json', 'text/csv'], '*/*, application/json;q=0.1', 'text/csv'],
    [['application/problem+json'], 'application/json', 'application/problem+json'],
    [['image/*'], 'image/webp, */*;q=0.1', 'image/webp'],
    [['image/*'], '*/*', 'image/png'],
    [['*/*'], undefined, 'application/json'],
    [['application/json'], 'nonsense;;;q=x', 'application/json'],
  ])('of %j for %j is %j', (types, accept, is) => {
    expect(chooseType(types, accept)?.type).toBe(is);
  });

  it('is none where nothing has content', () => {
    expect(chooseType([], 'text/csv')).toBeNull();
  });
});

describe('a preference', () => {
  it.each([
    ['code=404', '404', undefined],
    ['respond-async, Code = 404 , example="a \\"b\\""', '404', 'a "b"'],
    ['example=two;x=1, code=500', '500', 'two'],
    ['code=404, code=500', '404', undefined],
    ['code', undefined, undefined],
    [undefined, undefined, undefined],
  ])('is read from %j', (header, code, example) => {
    expect(preferenceOf(header)).toEqual({ code, example });
  });
});

describe('the body', () => {
  it.each([
    ['application/hal+json', 'text', '"text"'],
    ['text/plain', 'text', 'text'],
    ['text/plain', 5, '5'],
    [
      'application/xml',
      { book: { title: 'A & B', tags: ['x', 'y'], '1st': true } },
      '<?xml version="1.0"?><root><book><title>A &amp; B</title><tags>x</tags><tags>y</tags><item>true</item></book></root>',
    ],
    ['application/x-www-form-urlencoded', { a: 'b c', n: [1] }, 'a=b+c&n=%5B1%5D'],
    ['text/event-stream', ['one\ntwo', { n: 1 }], 'data: one\ndata: two\n\ndata: {"n":1}\n\n'],
    ['application/x-ndjson', [{ n: 1 }, { n: 2 }], '{"n":1}\n{"n":2}\n'],
  ])('of %s', (type, value, text) => {
    expect(renderBody(type, value, false)).toBe(text);
  });

  it('of an image is one, and of an example its text as it stands', () => {
    expect(
      Buffer.from(renderBody('image/png', 'x', false))
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    expect(renderBody('application/xml', '<a/>', true)).toBe('<a/>');
  });
});
