/** Cookies, URLs and dates of the SDK, through a compiled module, beside those of JavaScript. */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { type JsonObject, type PluginKit, testPlugin } from './index.ts';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(join(import.meta.dirname, '../../../test/fixtures/plugins/text-tools'));
});
afterAll(() => kit.close());

/** What a tool of the plugin makes of a text; null if it makes nothing. */
async function made(tool: string, body: string, config: JsonObject = {}, cookie = ''): Promise<string | null> {
  const headers = { cookie };
  const { answer, logs } = await kit.dispatch({ config: { tool, ...config }, method: 'POST', body, headers });
  if (answer === null || (answer.status !== 200 && answer.status !== 404)) {
    throw new Error(`${tool}: ${logs.map(({ message }) => message).join()}`);
  }
  return answer.status === 200 ? answer.body : null;
}

describe('cookies', () => {
  it.each([
    ['a=1; b=2', 'b', '2'],
    ['a=1; a=2', 'a', '1'],
    ['a="1 2"; b=', 'a', '1 2'],
    ['a=1; b=', 'b', ''],
    ['a=b=c', 'a', 'b=c'],
    ['a="', 'a', '"'],
    [' a = 1 ;b=2', 'a', '1'],
    ['A=1', 'a', null],
    ['ab=1', 'b', null],
    ['a', 'a', null],
    ['=1', '', null],
    [';;a=1', 'a', '1'],
    ['', 'a', null],
  ])('of %j, %j is %j', async (header, argument, value) => {
    expect(await made('cookie', header, { argument })).toBe(value);
    if (header !== '') expect(await made('request-cookie', '', { argument }, header)).toBe(value);
  });

  it('are written with their attributes', async () => {
    expect(await made('set-cookie', 'v', { argument: 'a', second: '/x' })).toBe(
      'a=v; Secure; HttpOnly; Path=/x; Max-Age=60; SameSite=Lax; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
    );
  });

  it.each(['a b', 'a;b', 'a,b', 'a"b', 'a\\b', 'a\r\nb', 'a\u0000', 'é', '\u007f'])(
    'are not written with %j in a name or value',
    async (bad) => {
      expect(await made('set-cookie', bad, { argument: 'a' })).toBeNull();
      expect(await made('set-cookie', 'v', { argument: bad })).toBeNull();
    },
  );

  it('are not written with what ends an attribute, or without a name', async () => {
    for (const second of ['/a;b', '/a\r\nSet-Cookie: x=1', '/é'])
      expect(await made('set-cookie', 'v', { argument: 'a', second })).toBeNull();
    expect(await made('set-cookie', 'v', { argument: '' })).toBeNull();
    expect(await made('set-cookie', '', { argument: 'a=' })).toBeNull();
    expect(await made('set-cookie', '', { argument: 'a' })).toMatch(/^a=; /);
  });

  it('that are written are read as they were', async () => {
    const octets = fc.stringMatching(/^[!#-+\--:<-[\]-~]*$/);
    await fc.assert(
      fc.asyncProperty(octets, fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/), async (value, argument) => {
        const [pair = ''] = ((await made('set-cookie', value, { argument })) ?? '').split('; ');
        expect(await made('cookie', `x=0; ${pair}`, { argument })).toBe(value);
      }),
      propertyRuns(100),
    );
  });
});

describe('URLs', () => {
  it.each([
    ['HTTPS://Shop.Example:8443/Books?a=1#b', 'https://shop.example:8443 shop.example 8443 /Books a=1 b'],
    ['https://a:443', 'https://a a 443   '],
    ['http://[2001:DB8::1]:80/?', 'http://[2001:db8::1] [2001:db8::1] 80 /  '],
    ['http://u:p@a/x', 'http://a a 80 /x  '],
    ['ws://a:/', 'ws://a a -1 /  '],
  ])('%s has the parts %j', async (url, parts) => {
    expect(await made('url', url)).toBe(parts);
  });

  it.each([
    '',
    'a',
    '/a',
    '//a/b',
    'https:',
    'https:/a',
    'https://',
    'https:///a',
    'mailto:a@b',
    'https://a b/',
    'https://a/\\b',
    'https://a/é',
    'https://a:x/',
    'https://a:65536/',
    'https://a:-1/',
    'https://a/%',
    'https://a/%g0',
    'https://a/<x>',
    '1a://b',
    'https://a\r\n/',
    'https://[::1/',
    'https://[x]/',
    'https://a]/',
    'https://a@b@c/',
    'https://a/#b#c',
    ' https://a/',
  ])('%j is not a URL', async (url) => {
    expect(await made('url', url)).toBeNull();
  });

  /** RFC 3986, section 5.4, but for references with the scheme of a URL without a host. */
  it.each([
    ['g', 'http://a/b/c/g'],
    ['./g', 'http://a/b/c/g'],
    ['g/', 'http://a/b/c/g/'],
    ['/g', 'http://a/g'],
    ['//g', 'http://g'],
    ['?y', 'http://a/b/c/d;p?y'],
    ['g?y', 'http://a/b/c/g?y'],
    ['#s', 'http://a/b/c/d;p?q#s'],
    ['g#s', 'http://a/b/c/g#s'],
    ['g?y#s', 'http://a/b/c/g?y#s'],
    [';x', 'http://a/b/c/;x'],
    ['g;x', 'http://a/b/c/g;x'],
    ['', 'http://a/b/c/d;p?q'],
    ['.', 'http://a/b/c/'],
    ['./', 'http://a/b/c/'],
    ['..', 'http://a/b/'],
    ['../', 'http://a/b/'],
    ['../g', 'http://a/b/g'],
    ['../..', 'http://a/'],
    ['../../', 'http://a/'],
    ['../../g', 'http://a/g'],
    ['../../../g', 'http://a/g'],
    ['/./g', 'http://a/g'],
    ['/../g', 'http://a/g'],
    ['g.', 'http://a/b/c/g.'],
    ['.g', 'http://a/b/c/.g'],
    ['g..', 'http://a/b/c/g..'],
    ['./../g', 'http://a/b/g'],
    ['./g/.', 'http://a/b/c/g/'],
    ['g/./h', 'http://a/b/c/g/h'],
    ['g/../h', 'http://a/b/c/h'],
    ['g?y/../x', 'http://a/b/c/g?y/../x'],
    ['%2e%2E/g', 'http://a/b/g'],
    ['http://x/../y', 'http://x/y'],
    ['mailto:a', null],
    ['a b', null],
  ])('%j resolves to %j', async (reference, url) => {
    expect(await made('resolve', reference, { argument: 'http://a/b/c/d;p?q' })).toBe(url);
  });

  it('resolve as URL resolves them', async () => {
    const segment = fc.constantFrom('', '.', '..', 'a', 'b;c', '%41', '...', '%2e', '.%2E', 'x=1');
    const path = fc.array(segment, { maxLength: 6 }).map((segments) => segments.join('/'));
    const query = fc.constantFrom('', '?', '?a=1&b', '?/../x');
    const fragment = fc.constantFrom('', '#', '#x/..');
    const reference = fc
      .tuple(fc.constantFrom('', '/', '//h.example/', 'https://k.example/'), path, query, fragment)
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(path, reference, async (base, ref) => {
        const argument = new URL(`https://a.example/${base}`).href;
        // Two slashes name a host, whose notation `URL` changes.
        fc.pre(!ref.startsWith('//') || ref.startsWith('//h.example/'));
        expect(await made('resolve', ref, { argument })).toBe(new URL(ref, argument).href);
      }),
      propertyRuns(200),
    );
  });
});

describe('queries', () => {
  it('are read and changed as URLSearchParams does, and leave the rest byte for byte', async () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '%20', '+', '%', '%zz', 'é', '%C3%A9', '=', '%ff') });
    const pairs = fc.array(part, { maxLength: 5 }).map((each) => each.join('&'));
    const name = fc.constantFrom('a', 'b', '', 'a b', 'é', 'ab');
    await fc.assert(
      fc.asyncProperty(pairs, name, fc.string({ unit: 'grapheme' }), async (query, argument, second) => {
        const found = await made('query-get', query, { argument });
        if (!/%(?![0-9a-f]{2})|%ff/i.test(query)) {
          expect(found).toBe(new URLSearchParams(query.replaceAll(/é/g, '%C3%A9')).get(argument));
        }
        const set = (await made('query-set', query, { argument, second: second.toWellFormed() })) ?? '';
        expect(await made('query-get', set, { argument })).toBe(second.toWellFormed());
        const removed = (await made('query-remove', query, { argument })) ?? '';
        expect(await made('query-get', removed, { argument })).toBeNull();
        if (found === null) expect(removed).toBe(query);
      }),
      propertyRuns(150),
    );
  });

  it('keep empty pairs', async () => {
    expect(await made('query-remove', '&a=1&&b=2&', { argument: 'a' })).toBe('&&b=2&');
    expect(await made('query-remove', 'a=1', { argument: 'a' })).toBe('');
  });

  it('are percent-encoded and decoded', async () => {
    expect(await made('encode', 'a/b c+é~')).toBe('a%2Fb%20c%2B%C3%A9~');
    expect(await made('decode', 'a%2Fb+%C3%a9')).toBe('a/b+é');
    for (const bad of ['%', '%4', 'a%zz']) expect(await made('decode', bad)).toBeNull();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
        const encoded = await made('encode', text.toWellFormed());
        expect(decodeURIComponent(encoded ?? '')).toBe(text.toWellFormed());
        expect(await made('decode', encoded ?? '')).toBe(text.toWellFormed());
      }),
      propertyRuns(100),
    );
  });
});

describe('dates', () => {
  const date = fc.date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });

  it('are written and read as Date does', async () => {
    await fc.assert(
      fc.asyncProperty(date, fc.integer({ min: -1439, max: 1439 }), async (at, offset) => {
        const ms = at.getTime();
        const iso = at.toISOString();
        expect(await made('to-rfc3339', '', { ms })).toBe(iso.replace('.000Z', 'Z'));
        expect(await made('to-http-date', '', { ms })).toBe(at.toUTCString());
        expect(await made('rfc3339', iso)).toBe(`${ms}`);
        expect(await made('http-date', at.toUTCString())).toBe(`${Math.floor(ms / 1000) * 1000}`);
        const shifted = new Date(ms + offset * 60_000);
        if (shifted.getUTCFullYear() < 0 || shifted.getUTCFullYear() > 9999) return;
        const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
        const zone = `${offset < 0 ? '-' : '+'}${`${hours}`.padStart(2, '0')}:${`${minutes}`.padStart(2, '0')}`;
        expect(await made('rfc3339', shifted.toISOString().replace('Z', zone))).toBe(`${ms}`);
      }),
      propertyRuns(150),
    );
  });

  it.each([
    ['rfc3339', '2026-11-27t04:06:00z', 1795752360000],
    ['rfc3339', '2026-11-27 04:06:00.123456789Z', 1795752360123],
    ['rfc3339', '1990-12-31T23:59:60Z', 662687999000],
    ['http-date', 'Sun, 06 Nov 1994 08:49:37 GMT', 784111777000],
    ['http-date', 'Sunday, 06-Nov-94 08:49:37 GMT', 784111777000],
    ['http-date', 'Sun Nov  6 08:49:37 1994', 784111777000],
    ['http-date', 'Wednesday, 06-Nov-30 08:49:37 GMT', 1920185377000],
  ])('%s reads %j', async (tool, text, ms) => {
    expect(await made(tool, text)).toBe(`${ms}`);
  });

  it.each([
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+0100',
    '2026-01-01T00:00:00Zx',
    '+02026-01-01T00:00:00Z',
    '2026-1-1T00:00:00Z',
    '',
    '2026-01-01T00-00-00Z',
  ])('%j is not a date of RFC 3339', async (text) => {
    expect(await made('rfc3339', text)).toBeNull();
  });

  it.each([
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 31 Nov 1994 08:49:37 GMT',
    'Xyz, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 nov 1994 08:49:37 GMT',
    '',
    '0',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    'Sun Nov 6 08:49:37 1994',
    'Sun, 06 Nov 1994 08:49:37 GMT ',
    'Sun,x06xNovx1994x08:49:37 GMT',
  ])('%j is not a date of HTTP', async (text) => {
    expect(await made('http-date', text)).toBeNull();
  });

  it('outside of what can be written are empty', async () => {
    expect(await made('to-rfc3339', '', { ms: 253_402_300_800_000 })).toBe('');
    expect(await made('to-http-date', '', { ms: -62_167_219_200_001 })).toBe('');
  });
});
