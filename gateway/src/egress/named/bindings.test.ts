/** The addresses that a file may have. */
import { describe, expect, it } from 'vitest';
import { bindingsOf, requireBound } from './bindings.ts';

const url = 'https://10.0.0.1:8443';

describe('addresses of upstreams', () => {
  it('are origins, each with a weight', () => {
    expect(bindingsOf({ books: [{ url: `${url}/`, weight: 3 }, 'https://b.example'] }, false)).toEqual({
      books: [
        { url, weight: 3 },
        { url: 'https://b.example', weight: 1 },
      ],
    });
  });

  it.each([
    ['a list at the top', [], 'write upstreams by name'],
    ['no addresses', { books: [] }, '"books" needs a list of addresses'],
    ['a URL in place of a list', { books: url }, '"books" needs a list of addresses'],
    ['no URL', { books: [{ weight: 1 }] }, 'needs "url"'],
    ['another scheme', { books: ['ftp://a.example'] }, 'needs "url"'],
    ['a path', { books: [`${url}/api`] }, 'write the path in "path" of the config'],
    ['a query', { books: [`${url}?a`] }, 'has a path or a query'],
    ['credentials', { books: ['https://me:planted@a.example'] }, 'holds credentials'],
    ['plaintext', { books: ['http://a.example'] }, 'is plaintext'],
    ['an unknown field', { books: [{ url, wieght: 1 }] }, 'unknown field "wieght"'],
    ['a weight of 0', { books: [{ url, weight: 0 }] }, 'a weight from 1'],
    ['half a weight', { books: [{ url, weight: 1.5 }] }, 'a weight from 1'],
    ['one twice', { books: [url, `${url}/`] }, 'twice'],
    ['too many', { books: Array.from({ length: 1001 }, (_, i) => `https://h${i}.example`) }, 'at most 1000'],
  ])('are refused with %s', (_, value, message) => {
    expect(() => bindingsOf(value, false)).toThrow(message);
    try {
      bindingsOf(value, false);
    } catch (error) {
      expect(String(error)).not.toContain('planted');
    }
  });

  it('may be plaintext if that is allowed', () => {
    expect(bindingsOf({ books: ['http://a.example:80'] }, true)).toEqual({
      books: [{ url: 'http://a.example', weight: 1 }],
    });
  });

  it('are there for each upstream of an artifact', () => {
    expect(() => requireBound(['books'], { books: [{ url, weight: 1 }] })).not.toThrow();
    expect(() => requireBound(['books', 'orders'], { book: [] })).toThrow(
      'upstreams "books", "orders" of the artifact have no addresses (there are addresses of: book)',
    );
  });
});
