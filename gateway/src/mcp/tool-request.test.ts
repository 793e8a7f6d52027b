/** Arguments as requests (docs/decisions.md#tool-arguments): what is written is read again, and nothing beside it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { Operation, Parameter } from '../artifact/format.ts';
import type { Tool } from '../artifact/tools.ts';
import { parseExactly } from '../json/exact-json.ts';
import { Router } from '../router/router.ts';
import type { Obj } from '../spec/json.ts';
import { readMultipart } from '../validation/multipart.ts';
import { readPairs, readText, splitCookies, splitQuery } from '../validation/styles/styles.ts';
import { ToolFault } from './tool-fault.ts';
import { toolRequest } from './tool-request.ts';

type Some = Partial<Parameter> & Pick<Parameter, 'in'>;

const parameter = (some: Some): Parameter => ({
  name: 'p',
  required: false,
  style: ({ path: 'simple', header: 'simple' } as const)[some.in as 'path'] ?? 'form',
  explode: some.in === 'query',
  types: [],
  ...some,
});

function toolOf(
  parameters: readonly Parameter[],
  path = '/a',
  more: Partial<Tool> = {},
  body?: Operation['request_body'],
) {
  const operation = {
    index: 0,
    path,
    method: 'POST',
    parameters,
    ...(body ? { request_body: body } : {}),
  } as Operation;
  const names = [
    ...parameters.map(({ name }) => name),
    ...(more.body?.properties ?? []),
    more.body?.argument ?? [],
  ].flat();
  const tool: Tool = {
    name: 't',
    annotations: {},
    operation: 0,
    parameters: parameters.map(({ name }, i) => ({ argument: name, parameter: i })),
    input: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) },
    ...more,
  };
  return { tool, operation };
}

function requestOf(parameters: readonly Parameter[], args: object, path?: string) {
  const { tool, operation } = toolOf(parameters, path);
  try {
    return toolRequest(tool, operation, args as never);
  } catch (error) {
    if (error instanceof ToolFault) return null;
    throw error;
  }
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('..', '.', '', '/', '?', '#', 'a&b=c', '%2e', 'a\r\nb: c', 'a; b=c'),
);

describe('a text in', () => {
  it('a path stays in its segment', () => {
    const router = new Router<string>();
    router.add('POST', '/a/{p}/b', 'here');
    router.add('POST', '/a/{p}', 'there');
    fc.assert(
      fc.property(anyText, (value) => {
        const request = requestOf([parameter({ in: 'path', required: true })], { p: value }, '/a/{p}/b');
        if (request === null || value === '') return;
        expect(request.target).toMatch(/^\/a\/[A-Za-z0-9._~%-]+\/b$/);
        const { value: found, ...match } = router.find('POST', request.target);
        expect([found, 'params' in match && match.params.map(decodeURIComponent)]).toEqual(['here', [value]]);
      }),
      propertyRuns(300),
    );
  });

  it('a query is one value', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const declared = parameter({ in: 'query', types: ['string'] });
        const request = requestOf([declared], { p: value });
        if (request === null) return;
        const pairs = splitQuery(request.target.split('?')[1] ?? '');
        expect(pairs).toHaveLength(1);
        expect(readPairs(declared, pairs, true)).toBe(value);
      }),
      propertyRuns(300),
    );
  });

  it('a header is one line, or refused', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const declared = parameter({ in: 'header', types: ['string'] });
        const request = requestOf([declared], { p: value });
        if (request === null) return;
        expect(request.headers).toEqual(['p', value]);
        expect(value).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/);
      }),
      propertyRuns(300),
    );
  });

  it.each(['form', 'cookie'] as const)('a cookie of style %s is one cookie, or refused', (style) => {
    fc.assert(
      fc.property(anyText, (value) => {
        const declared = parameter({ in: 'cookie', types: ['string'], style, explode: true });
        const request = requestOf([declared], { p: value });
        if (request === null) return;
        const pairs = splitCookies(request.cookies.join('; '));
        expect(pairs).toHaveLength(1);
        expect(readPairs(declared, pairs, false)).toBe(value);
      }),
      propertyRuns(300),
    );
  });
});

describe('a value is read as it was written', () => {
  const text = fc.string({ minLength: 1, unit: fc.constantFrom('a', 'B', '1', ' ', '/', '&', '=', 'ü', '|', '%') });
  const list = fc.array(text, { minLength: 1, maxLength: 4 });
  const lists = [
    { in: 'query', style: 'form', explode: true },
    { in: 'query', style: 'form', explode: false },
    { in: 'query', style: 'pipeDelimited', explode: false },
    { in: 'path', style: 'simple', explode: false },
    { in: 'path', style: 'label', explode: false },
    { in: 'path', style: 'matrix', explode: true },
    { in: 'path', style: 'matrix', explode: false },
  ] as const;

  const readBack = (declared: Parameter, args: object): unknown => {
    const request = requestOf([declared], args, declared.in === 'path' ? '/{p}' : '/a');
    if (request === null) throw new Error('refused');
    if (declared.in === 'path') return readText(declared, request.target.slice(1), true);
    return readPairs(declared, splitQuery(request.target.split('?')[1] ?? ''), true);
  };

  it.each(lists)('a list: %j', (some) => {
    const declared = parameter({ ...some, types: ['array'], item_types: ['string'] });
    fc.assert(
      fc.property(list, (p) => {
        // What separates values cannot be in one: it is refused.
        fc.pre(declared.style !== 'pipeDelimited' || !JSON.stringify(p).includes('|'));
        expect(readBack(declared, { p })).toEqual(p);
      }),
      propertyRuns(100),
    );
  });

  const objects = [
    { in: 'query', style: 'form', explode: true },
    { in: 'query', style: 'form', explode: false },
    { in: 'query', style: 'deepObject', explode: true },
    { in: 'path', style: 'simple', explode: true },
    { in: 'path', style: 'matrix', explode: false },
  ] as const;
  it.each(objects)('an object: %j', (some) => {
    const declared = parameter({ ...some, types: ['object'], property_types: { x: ['string'], y: ['string'] } });
    const object = fc.record({ x: text, y: text });
    fc.assert(
      fc.property(object, (p) => {
        expect(readBack(declared, { p })).toEqual(p);
      }),
      propertyRuns(100),
    );
  });

  it('and a list or an object is no text', () => {
    const text = parameter({ in: 'query', types: ['string', 'null'] });
    for (const value of [['a'], { a: 1 }, []]) expect(requestOf([text], { p: value })).toBeNull();
    expect(requestOf([text], { p: 'a' })?.target).toBe('/a?p=a');
    expect(requestOf([parameter({ in: 'query', types: ['array'] })], { p: ['a'] })?.target).toBe('/a?p=a');
  });

  it('no member of an object becomes a parameter that is not its own', () => {
    const declared = parameter({ in: 'query', types: ['object'], property_types: { x: ['string'] } });
    expect(requestOf([declared], { p: { x: '1', admin: '1' } })).toBeNull();
  });
});

describe('a number of more digits than a double has', () => {
  const digits = fc.bigInt({ min: 10n ** 15n }).map(String);
  const types = ['integer'];
  const positions: readonly Parameter[] = [
    parameter({ in: 'path', types }),
    parameter({ in: 'header', types }),
    parameter({ in: 'cookie', types }),
    parameter({ in: 'query', types }),
    parameter({ in: 'query', content_type: 'application/json' }),
  ];
  const within = [
    [parameter({ in: 'query', types: ['array'] }), (n: string) => `[1,${n}]`],
    [parameter({ in: 'query', types: ['array'], style: 'pipeDelimited', explode: false }), (n: string) => `[${n},1]`],
    [parameter({ in: 'query', types: ['object'], style: 'deepObject' }), (n: string) => `{"a":{"b":${n}}}`],
    [parameter({ in: 'query', types: ['object'], property_types: { x: types } }), (n: string) => `{"x":${n}}`],
    [parameter({ in: 'path', types: ['array'], style: 'matrix' }), (n: string) => `[${n}]`],
  ] as const;
  const sent = (tool: Tool, operation: Operation, written: string): string => {
    const { target, headers, cookies, body } = toolRequest(tool, operation, parseExactly(written) as Obj);
    return [target, ...headers, ...cookies, body?.bytes ?? ''].join(' ');
  };

  it('is sent as it was written, wherever it stands', () => {
    fc.assert(
      fc.property(digits, (n) => {
        const numberIn = new RegExp(`(^|[^0-9])${n}($|[^0-9])`);
        for (const [declared, write] of [...positions.map((each) => [each, String] as const), ...within]) {
          const { tool, operation } = toolOf([declared], declared.in === 'path' ? '/{p}' : '/a');
          expect(sent(tool, operation, `{"p":${write(n)}}`)).toMatch(numberIn);
        }
        for (const encoding of ['json', 'form', 'multipart', 'text'] as const) {
          const properties = encoding === 'text' ? { argument: 'n' } : { properties: ['n', 'list'] };
          const body = { content_type: `a/${encoding}`, encoding, required: true, ...properties };
          const content = { [body.content_type]: { fields: [] } };
          const { tool, operation } = toolOf([], '/a', { body }, { required: true, content });
          expect(sent(tool, operation, `{"n":${n}}`)).toMatch(numberIn);
          if (encoding === 'json') expect(sent(tool, operation, `{"list":[${n}]}`)).toBe(`/a {"list":[${n}]}`);
        }
      }),
      propertyRuns(100),
    );
  });

  it('is no list, and no object, where one is asked for', () => {
    const { tool, operation } = toolOf([parameter({ in: 'querystring', fields: [] })]);
    expect(() => sent(tool, operation, '{"p":12345678901234567890}')).toThrow(ToolFault);
  });
});

describe('bodies', () => {
  const json = { content_type: 'application/json', encoding: 'json', required: true } as const;

  it('are the arguments that are their properties, of any name', () => {
    const body = { ...json, properties: ['a', '__proto__'], open: true };
    const { tool, operation } = toolOf([], '/a', { body });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        const given = JSON.parse(JSON.stringify(args));
        const request = toolRequest(tool, operation, given);
        expect(JSON.parse(request.body?.bytes.toString() ?? '')).toEqual(given);
      }),
      propertyRuns(200),
    );
  });

  it('cannot be given what is hidden', () => {
    const defaults = { b: { value: 1, hidden: true } };
    const input = { type: 'object', properties: { a: {} } };
    const body = { ...json, properties: ['a', 'b'], open: true };
    const { tool, operation } = toolOf([], '/a', { body, defaults, input });
    expect(() => toolRequest(tool, operation, { b: 2 })).toThrow(ToolFault);
    expect(JSON.parse(toolRequest(tool, operation, { a: 1 }).body?.bytes.toString() ?? '')).toEqual({ a: 1, b: 1 });
  });

  it('of forms have the parts that were given, whatever is in them', () => {
    const type = 'multipart/form-data';
    const body = {
      content_type: type,
      encoding: 'multipart',
      required: true,
      properties: ['text', 'file'],
      binary: ['file'],
    } as const;
    const { tool, operation } = toolOf([], '/a', { body }, { required: true, content: { [type]: { fields: [] } } });
    fc.assert(
      fc.property(fc.string(), fc.uint8Array(), (value, bytes) => {
        const args = { text: value, file: Buffer.from(bytes).toString('base64') };
        const { body: sent } = toolRequest(tool, operation, args);
        const parts = readMultipart(sent?.contentType ?? '', sent?.bytes ?? new Uint8Array());
        if (typeof parts === 'string') throw new Error(parts);
        expect(parts.map(({ name, filename }) => [name, filename])).toEqual([
          ['text', undefined],
          ['file', 'file'],
        ]);
        expect([parts[0]?.body.toString(), new Uint8Array(parts[1]?.body ?? [])]).toEqual([value, bytes]);
      }),
      propertyRuns(100),
    );
  });
});
