import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { bucketOf, escaped, keyPath, keyPathOf } from './object-path.ts';
import { storeQuery } from './store-query.ts';

/** Keys in which what encodings stumble over is frequent. */
const awkward = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '/',
        '%',
        '%2F',
        '%252f',
        '+',
        ' ',
        '?',
        '#',
        '.',
        '..',
        '\\',
        ';',
        '&',
        '=',
        '~',
        '*',
        "'",
        '(',
        ')',
        '\u0000',
        'é',
        '☃',
        '𐍈',
      ),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));
const dotted = (key: string) => key.split('/').some((segment) => segment === '.' || segment === '..');

/** What a store reads out of a path: bucket, and key. */
function readBy(path: string): [bucket: string, key: string] {
  const [, bucket = '', ...rest] = path.split('/');
  return [decodeURIComponent(bucket), decodeURIComponent(rest.join('/'))];
}

describe('paths of objects', () => {
  it('are read as exactly the key that was sent, however it was encoded', () => {
    fc.assert(
      fc.property(awkward, fc.array(fc.boolean()), (key, encodes) => {
        const sent = [...key]
          .map((character, i) =>
            encodes[i % (encodes.length || 1)] || /[%?#\s\\]/.test(character)
              ? encodeURIComponent(character)
              : character,
          )
          .join('');
        const path = keyPathOf(sent);
        if (key === '' || dotted(key)) {
          expect(path).toBeNull();
          return;
        }
        expect(path).toMatch(/^[A-Za-z0-9._~/%-]+$/);
        expect(readBy(`/a-bucket/${path}`)).toEqual(['a-bucket', key]);
        // Decoded once, and encoded once.
        expect(path).toBe(key.split('/').map(escaped).join('/'));
      }),
      propertyRuns(2000),
    );
  });

  it('stay in their bucket, also where something on the way resolves dots', () => {
    fc.assert(
      fc.property(fc.oneof(awkward, awkward.map(encodeURIComponent), fc.string()), (sent) => {
        const path = keyPathOf(sent);
        if (path === null) return;
        const { pathname } = new URL(`http://store/a-bucket/${path}`);
        expect(pathname).toBe(`/a-bucket/${path}`);
        expect(new URL(`http://store/a-bucket/${decodeURIComponent(path).replace(/[?#\\]/g, '')}`).pathname).toMatch(
          /^\/a-bucket\//,
        );
      }),
      propertyRuns(2000),
    );
  });

  it('name buckets by what can be nothing but a name', () => {
    fc.assert(
      fc.property(
        fc.oneof(awkward, awkward.map(encodeURIComponent), fc.stringMatching(/^[a-z0-9.-]{3,63}$/)),
        (sent) => {
          const bucket = bucketOf(sent);
          if (bucket === null) return;
          expect(bucket).toBe(decodeURIComponent(sent));
          const url = new URL(`http://${bucket.toLowerCase().replaceAll('_', '-')}.store/${bucket}/key`);
          expect([url.pathname, url.hostname.endsWith('.store')]).toEqual([`/${bucket}/key`, true]);
        },
      ),
      propertyRuns(2000),
    );
    for (const sent of [
      '',
      'ab',
      '..',
      'a/b',
      'a%2fb',
      '%2e%2e',
      'a%00b',
      'a b',
      'a?b',
      'a@b',
      'a:b',
      '-ab',
      'x'.repeat(256),
      '%ff',
    ]) {
      expect([sent, bucketOf(sent)]).toEqual([sent, null]);
    }
  });

  it('refuse encodings that are broken, and what is not UTF-8', () => {
    for (const sent of ['%', 'a%2', '%zz', '%ff', '%c3%28', '%ed%a0%80'])
      expect([sent, keyPathOf(sent)]).toEqual([sent, null]);
    expect(keyPath('über/a b')).toBe('%C3%BCber/a%20b');
  });
});

describe('queries of stores', () => {
  it('say what they said, in one encoding', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(awkward, awkward)), (pairs) => {
        const query = storeQuery(
          pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&'),
        );
        if (pairs.some(([name]) => name === '')) expect(query).toBeNull();
        else expect([...new URLSearchParams(query?.text)]).toEqual(pairs);
        expect(query?.text ?? '').toMatch(/^[A-Za-z0-9._~%=&-]*$/);
      }),
      propertyRuns(500),
    );
    expect(storeQuery('uploads&a=1&a=+2&&x=')).toMatchObject({
      text: 'uploads&a=1&a=%202&x=',
      values: { uploads: [''], a: ['1', ' 2'], x: [''] },
    });
    expect(storeQuery('a=%zz')).toBeNull();
    expect(storeQuery('a=1&=2')).toBeNull();
    expect(storeQuery(undefined)?.text).toBe('');
  });
});
