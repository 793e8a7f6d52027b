/** Where the link goes: the control plane's own address, and nowhere else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { artifactUrl, controlPlaneAddress, LinkAddressError } from './address.ts';

describe('the address of a control plane', () => {
  it.each([
    ['wss://c.test', 'wss://c.test/ws/data-plane', 'https://c.test/', false],
    ['wss://c.test:8443/ws/data-plane', 'wss://c.test:8443/ws/data-plane', 'https://c.test:8443/', false],
    ['wss://c.test/gw/ws/data-plane', 'wss://c.test/gw/ws/data-plane', 'https://c.test/gw/', false],
    ['ws://c.test/', 'ws://c.test/ws/data-plane', 'http://c.test/', true],
    ['ws://127.0.0.1:9090', 'ws://127.0.0.1:9090/ws/data-plane', 'http://127.0.0.1:9090/', false],
    ['ws://[::1]:9090', 'ws://[::1]:9090/ws/data-plane', 'http://[::1]:9090/', false],
  ])('%s', (url, socket, base, exposed) => {
    const address = controlPlaneAddress(url);
    expect([address.socket.href, address.base.href, address.exposed]).toEqual([socket, base, exposed]);
  });

  it.each([
    'https://c.test',
    'c.test',
    'wss://u:p@c.test',
    'wss://c.test/other',
    'wss://c.test/?a',
    'wss://c.test/#a',
    '',
  ])('is not %s', (url) => {
    expect(() => controlPlaneAddress(url)).toThrow(LinkAddressError);
  });
});

describe('the path of a notice', () => {
  const base = new URL('https://c.test/gw/');
  it('is under the address', () => {
    expect(artifactUrl(base, '/artifacts/1/download').href).toBe('https://c.test/gw/artifacts/1/download');
    expect(artifactUrl(new URL('https://c.test/'), '/a?b=c#d').href).toBe('https://c.test/a?b=c');
    expect(artifactUrl(base, '//evil.test/a').origin).toBe('https://c.test');
    expect(artifactUrl(base, '/\\evil.test/a').origin).toBe('https://c.test');
  });

  it.each(['/../a', '/a/../../b', '/%2e%2e/a', '/.\\..\\a', 'https://evil.test/', '', 'a'])(
    'does not leave it: %j',
    (path) => {
      expect(() => artifactUrl(base, path)).toThrow(LinkAddressError);
    },
  );

  it('never leaves it, whatever it is', () => {
    const part = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '%2e',
      '%2f',
      '@',
      ':',
      '//',
      'evil.test',
      'https:',
      '?',
      '#',
      ' ',
      '\t',
      '\n',
      'a',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(part).map((parts) => `/${parts.join('')}`),
          fc.string(),
        ),
        (path) => {
          try {
            const { origin, pathname, username } = artifactUrl(base, path);
            expect([origin, username]).toEqual(['https://c.test', '']);
            expect(pathname.startsWith('/gw/')).toBe(true);
          } catch (error) {
            expect(error).toBeInstanceOf(LinkAddressError);
          }
        },
      ),
      propertyRuns(2000),
    );
  });
});
