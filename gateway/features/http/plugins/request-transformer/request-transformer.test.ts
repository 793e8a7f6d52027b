import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

type Request = Omit<Parameters<PluginKit['onRequest']>[0], 'config'>;
type Config = NonNullable<Parameters<PluginKit['onRequest']>[0]['config']>;

const operation = { path: '/t/{tenant}', params: { tenant: 'acme' } };

describe('request-transformer: headers', () => {
  const after = async (headers: Config, request: Request = {}) => {
    const { outcome, requestHeaders } = await kit.onRequest({ config: { headers }, operation, ...request });
    expect(outcome).toBe('continue');
    return requestHeaders;
  };

  it('removes, renames, sets and adds, in this order', async () => {
    const changes = {
      add: { 'X-B': 'added', 'X-D': 'new' },
      set: { 'X-B': 'set', 'X-C': '' },
      rename: [
        { from: 'X-Old', to: 'X-C' },
        { from: 'X-None', to: 'X-E' },
      ],
      remove: ['x-a'],
    };
    const headers = { 'x-a': '1', 'x-b': '2', 'x-old': ['3', '4'] };
    expect(await after(changes, { headers })).toEqual({ 'x-b': 'set, added', 'x-c': '', 'x-d': 'new' });
    expect(await after({ rename: [{ from: 'X-Old', to: 'X-New' }] }, { headers: { 'x-old': ['3', '4'] } })).toEqual({
      'x-new': '3, 4',
    });
  });

  it('fills every placeholder in', async () => {
    const all =
      '{{request.method}} {{request.path}} {{request.query}} {{ request.client_ip }} {{headers.X-In}} {{path_params.tenant}} {{context.auth.consumer}}';
    const request = { path: '/t/acme?a=1', headers: { 'x-in': 'in' }, context: { 'auth.consumer': 'alice' } };
    expect((await after({ set: { 'x-all': all } }, request))['x-all']).toBe('GET /t/acme a=1 192.0.2.1 in acme alice');
  });

  it('does not make a change whose value the request does not have', async () => {
    const changes = {
      set: { 'X-A': 'a-{{headers.x-none}}', 'X-B': '{{context.none}}' },
      add: { 'X-A': '{{request.query}}' },
    };
    expect(await after(changes, { headers: { 'x-a': 'old' } })).toEqual({ 'x-a': 'old' });
  });

  it('lets no client end a header', async () => {
    const params = { tenant: 'a\r\nX-Evil: 1\u0000é' };
    const headers = await after(
      { set: { 'x-tenant': '{{path_params.tenant}}' } },
      { operation: { ...operation, params } },
    );
    expect(headers).toEqual({ 'x-tenant': 'a%0D%0AX-Evil: 1%00%C3%A9' });
  });

  it.each([
    'Connection',
    'content-length',
    'Host',
    'Transfer-Encoding',
    'te',
    'X-Auth-Consumer',
    'x-request-id',
    'a b',
    '',
  ])('does not compile with the header %j, in any place', async (name) => {
    for (const changes of [
      { remove: [name] },
      { set: { [name]: 'x' } },
      { add: { [name]: 'x' } },
      { rename: [{ from: name, to: 'x-a' }] },
      { rename: [{ from: 'x-a', to: name }] },
    ]) {
      await expect(kit.bind({ headers: changes })).rejects.toThrow(/schema/);
    }
  });
});

describe('request-transformer: query', () => {
  const after = async (query: Config, path: string, request: Request = {}) =>
    (await kit.onRequest({ config: { query }, path, operation, ...request })).query;

  it('removes, renames, sets and adds, and leaves the rest as it was sent', async () => {
    const changes = {
      remove: ['a b'],
      rename: [{ from: 'old', to: 'new' }],
      set: { limit: '10' },
      add: { tag: 'ü&=' },
    };
    expect(await after(changes, '/x?a%20b=1&keep=%2b&a+b=2&old=v%20w&limit=9&limit=8&tag=1')).toBe(
      'keep=%2b&tag=1&new=v%20w&limit=10&tag=%C3%BC%26%3D',
    );
    expect(await after({ set: { a: '1' } }, '/x')).toBe('a=1');
    expect(await after({ remove: ['a'] }, '/x?a=1')).toBeUndefined();
    expect(await after({ rename: [{ from: 'none', to: 'new' }] }, '/x?a=1')).toBe('a=1');
  });

  it('lets no client add a parameter', async () => {
    const params = { tenant: 'x&admin=1#' };
    expect(await after({ set: { t: '{{path_params.tenant}}' } }, '/x', { operation: { ...operation, params } })).toBe(
      't=x%26admin%3D1%23',
    );
  });
});

describe('request-transformer: body', () => {
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const run = (body: Config, text: string, headers: Record<string, string> = json) =>
    kit.onRequest({ config: { body }, method: 'POST', body: text, headers, operation });
  const after = async (body: Config, text: string) => (await run(body, text)).requestBody;

  it.each<[string, Config, string, string]>([
    [
      'sets members',
      { set: { '/a': 1, '/b/c': [true, null] } },
      '{"a":0,"x":2}',
      '{"a":1,"x":2,"b":{"c":[true,null]}}',
    ],
    ['sets strings', { set: { '/a': 'x "y" \n {{path_params.tenant}}' } }, '{}', '{"a":"x \\"y\\" \\u000A acme"}'],
    ['replaces what is there, of any kind', { set: { '/a': { b: 1 } } }, '{"a":[1,{"a":2}]}', '{"a":{"b":1}}'],
    [
      'removes members',
      { remove: ['/a', '/b/c', '/none/x'] },
      '{"a":1,"b":{"c":1,"d":2},"e":3}',
      '{"b":{"d":2},"e":3}',
    ],
    ['removes all members', { remove: ['/a', '/b'] }, ' { "a" : 1 , "b" : {} } ', ' { } '],
    ['sets and removes elements', { set: { '/l/1': 'x' }, remove: ['/l/0', '/l/9'] }, '{"l":[0,1,2]}', '{"l":["x",2]}'],
    ['appends to arrays', { set: { '/l/-': 3, '/m/-': 1 } }, '{"l":[1, 2],"m":[]}', '{"l":[1, 2,3],"m":[1]}'],
    ['reaches into arrays', { set: { '/l/1/a': 9 } }, '{"l":[{"a":1},{"a":2}]}', '{"l":[{"a":1},{"a":9}]}'],
    [
      'makes an array where none is to append to',
      { set: { '/l/-': 3, '/a/m/-/x': 1 } },
      '{}',
      '{"l":[3],"a":{"m":[{"x":1}]}}',
    ],
    ['works on an array as the body', { remove: ['/0'] }, '[1,2]', '[2]'],
    ['leaves a scalar alone', { set: { '/a/b': 1 } }, '{"a":"text"}', '{"a":"text"}'],
    ['leaves a scalar body alone', { set: { '/a': 1 } }, ' 17 ', ' 17 '],
    ['knows ~0 and ~1', { set: { '/a~1b~0': 1 } }, '{"a/b~":0}', '{"a/b~":1}'],
    ['finds escaped names', { remove: ['/é"', '/😀'] }, '{"\\u00e9\\"":1,"\\ud83d\\ude00":2,"z":3}', '{"z":3}'],
    ['changes every one of a doubled name', { set: { '/a': 2 } }, '{"a":1,"a":1}', '{"a":2,"a":2}'],
    [
      'keeps numbers and blanks as they are',
      { set: { '/z': 1 } },
      '{"n":1.0e+300,"o":{ "p" : [ 1 ] }}',
      '{"n":1.0e+300,"o":{ "p" : [ 1 ] },"z":1}',
    ],
    [
      'does not set what it has no value for',
      { set: { '/a': '{{headers.x-none}}', '/b/c': '{{context.x}}' } },
      '{"a":1}',
      '{"a":1}',
    ],
  ])('%s', async (_what, config, given, expected) => {
    expect(await after(config, given)).toBe(expected);
  });

  it('lets no client add a member', async () => {
    const result = await kit.onRequest({
      config: { body: { set: { '/agent': '{{headers.user-agent}}' } } },
      body: '{}',
      headers: { ...json, 'user-agent': 'x","admin":true,"y":"\\' },
    });
    expect(JSON.parse(result.requestBody ?? '')).toEqual({ agent: 'x","admin":true,"y":"\\' });
  });

  it('leaves other content types alone', async () => {
    for (const headers of [{ 'content-type': 'text/plain' }, {}]) {
      const result = await run({ set: { '/a': 1 } }, 'a=1', headers);
      expect([result.outcome, result.requestBody]).toEqual(['continue', null]);
    }
    expect(
      (await run({ set: { '/a': 1 } }, '{}', { 'content-type': 'application/merge-patch+json' })).requestBody,
    ).toBe('{"a":1}');
  });

  it.each([
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1',
    '{"a":1,}',
    '{"a":1 "b":2}',
    '[1',
    '{"a":"x',
    '{}}',
    '{"a":1}x',
    'nope}',
    '"',
  ])('refuses %s as no JSON', async (text) => {
    const { problem } = await run({ remove: ['/zz', '/a/b'] }, text);
    expect(problem).toMatchObject({ type: 'urn:gw:error:validation-failed', status: 400 });
  });

  it('refuses compressed bodies', async () => {
    const { problem } = await run({ remove: ['/a'] }, 'x', { ...json, 'content-encoding': 'gzip' });
    expect(problem).toMatchObject({ type: 'urn:gw:error:unsupported-media-type', status: 415 });
  });

  it('does to any JSON what JSON.parse and a plain change do', async () => {
    const tree = fc.object({
      key: fc.constantFrom('a', 'b', 'c', 'é'),
      maxDepth: 3,
      values: [fc.integer(), fc.string(), fc.constant(null)],
    });
    await fc.assert(
      fc.asyncProperty(
        tree,
        fc.constantFrom('a', 'b', 'é'),
        fc.constantFrom('a', 'b'),
        fc.integer({ min: 0, max: 3 }),
        async (value, outer, inner, indent) => {
          const expected: Record<string, unknown> = structuredClone(value);
          delete expected[outer];
          expected['c'] = 5;
          if (inner !== outer) {
            const below = expected[inner];
            if (typeof below === 'object' && below !== null && !Array.isArray(below))
              Reflect.deleteProperty(below, 'a');
          }
          const config = { remove: [`/${outer}`, `/${inner}/a`], set: { '/c': 5 } };
          expect(JSON.parse((await after(config, JSON.stringify(value, null, indent))) ?? '')).toEqual(expected);
        },
      ),
      propertyRuns(200),
    );
  });

  it('takes any bytes for JSON or for none', async () => {
    const noise = fc.string({ unit: fc.constantFrom(...'{}[]:,"\\u0dé a1-'), maxLength: 30 });
    const cut = fc.tuple(fc.json(), fc.nat(60), noise).map(([json, at, more]) => json.slice(0, at) + more);
    await fc.assert(
      fc.asyncProperty(fc.oneof(noise, cut, fc.json()), async (text) => {
        const { outcome, problem, logs } = await run({ remove: ['/a', '/0/b'], set: { '/a/b': 1, '/-': 2 } }, text);
        expect(logs).toEqual([]);
        if (outcome === 'answered') expect(problem).toMatchObject({ status: 400 });
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        if (valid) expect(outcome).toBe('continue');
      }),
      propertyRuns(500),
    );
  });

  it('is not led astray by depth', async () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},"b":1}`;
    expect(await after({ remove: ['/a'] }, deep)).toBe('{"b":1}');
    expect(await after({ remove: ['/b'] }, deep)).toBe(`${deep.slice(0, -7)}}`);
  });

  it('changes a body of 1 MiB within its CPU time', async () => {
    const items = Array.from({ length: 12_000 }, (_, i) => ({
      id: i,
      name: `item ${i}`,
      tags: ['a', 'b'],
      note: 'x'.repeat(30),
    }));
    const text = JSON.stringify({ secret: 1, items });
    expect(text.length).toBeGreaterThan(1_000_000);
    expect(await after({ remove: ['/secret'] }, text)).toBe(JSON.stringify({ items }));
  });

  it('does nothing by default', async () => {
    const result = await kit.onRequest({ path: '/x?a=1', body: '{', headers: json });
    expect([result.outcome, result.requestHeaders, result.query, result.requestBody]).toEqual([
      'continue',
      json,
      'a=1',
      null,
    ]);
  });

  it.each([
    { body: { set: { a: 1 } } },
    { body: { set: { '': 1 } } },
    { body: { remove: ['/a~2'] } },
    { headers: { set: { 'x-a': 1 } } },
    { headers: { set: { 'x-a': 'a\nb' } } },
    { headers: { replace: {} } },
    { query: { remove: [''] } },
    { other: 1 },
  ])('refuses the config %j', async (bad) => {
    await expect(kit.bind(JSON.parse(JSON.stringify(bad)))).rejects.toThrow(/schema/);
  });
});
