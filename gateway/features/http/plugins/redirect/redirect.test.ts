import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const to = (
  config: Record<string, string | number | boolean>,
  path = '/old',
  params: Record<string, string> = {},
  template = '/old/{id}',
) => kit.dispatch({ config, path, operation: { path: template, params } });
const locationOf = async (...args: Parameters<typeof to>) => (await to(...args)).answer?.headers['location'];

describe('redirect', () => {
  it('answers 302 with the target, and no body', async () => {
    const { answer } = await to({ target: '/new' });
    expect(answer).toEqual({ status: 302, headers: { location: '/new' }, body: '' });
  });

  it.each([301, 302, 303, 307, 308])('answers %d where its config says so', async (status) => {
    expect((await to({ target: 'https://example.com/', status })).answer?.status).toBe(status);
  });

  it('fills parameters in, percent-encoded', async () => {
    const target = 'https://example.com/v2/{id}?from={id}#top';
    expect(await locationOf({ target }, '/old', { id: 'a b/ü?#' })).toBe(
      'https://example.com/v2/a%20b%2F%C3%BC%3F%23?from=a%20b%2F%C3%BC%3F%23#top',
    );
    expect(await locationOf({ target: '/files/{id+}' }, '/old', { id: 'x/y z' }, '/old/{id+}')).toBe('/files/x/y%20z');
  });

  it('appends the query, unless told not to', async () => {
    expect(await locationOf({ target: '/new' }, '/old?a=1&b=%20')).toBe('/new?a=1&b=%20');
    expect(await locationOf({ target: '/new?x=1#f' }, '/old?a=1')).toBe('/new?x=1&a=1#f');
    expect(await locationOf({ target: '/new', preserve_query: false }, '/old?a=1')).toBe('/new');
    expect(await locationOf({ target: '/new' }, '/old?')).toBe('/new');
    expect(await locationOf({ target: 'https://example.com' }, '/old?a=1')).toBe('https://example.com?a=1');
  });

  it.each([
    '/evil.example',
    '//evil.example',
    '\\evil.example',
    '/\\evil.example',
    '\r\nx: y',
    '\t//evil.example',
    'a@b',
  ])('stays on its host, whatever the client sends: %j', async (value) => {
    const location = await locationOf({ target: '/{id+}' }, '/old', { id: value }, '/old/{id+}');
    expect(new URL(location ?? '', 'https://gw.example').host).toBe('gw.example');
    expect(location).not.toMatch(/[\r\n\t\\]|^\/\//);
  });

  it('stays on its host for any value, in any place of a target', async () => {
    const target = fc.constantFrom(
      '/{id}',
      '/{id+}',
      '/a{id}',
      'https://gw.example/{id+}',
      '/?{id}',
      'https://gw.example?{id}',
    );
    await fc.assert(
      fc.asyncProperty(
        target,
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.string({ maxLength: 8 }),
        async (target, id, query) => {
          const { answer } = await to({ target }, `/old?${query}`, { id }, '/old/{id+}');
          const location = answer?.headers['location'] ?? '';
          expect(location).toMatch(/^[\x21-\x7e]+$/);
          expect(new URL(location, 'https://gw.example').origin).toBe('https://gw.example');
        },
      ),
      propertyRuns(200),
    );
  });

  it.each([
    {},
    { target: '' },
    { target: 'new' },
    { target: '//example.com/' },
    { target: '/\\example.com/' },
    { target: 'javascript:alert(1)' },
    { target: 'https://{id}.example.com/' },
    { target: 'https://example.com{id}/' },
    { target: 'https://user@example.com/' },
    { target: '/a b' },
    { target: '/a\r\nb' },
    { target: '/a#{id}' },
    { target: '/a', status: 300 },
    { target: '/a', other: 1 },
  ])('refuses the config %j', async (bad) => {
    await expect(kit.bind(bad)).rejects.toThrow(/schema/);
  });

  it('refuses braces that do not pair', async () => {
    await expect(kit.bind({ target: '/a/{id' })).rejects.toThrow(/target/);
    await expect(kit.bind({ target: '/a/id}' })).rejects.toThrow(/target/);
  });
});
