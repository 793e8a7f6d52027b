/** Which texts are URLs with credentials in them (docs/reference/gateway.md#upstream-credentials). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { credentialPlaces, hideCredentials, holdsCredentials, withoutCredentials } from './url-credentials.ts';

describe('credentials in a URL', () => {
  it.each([
    'https://bob:pw@api.example',
    'https://bob@api.example/v1',
    'HTTPS://:pw@api.example',
    ' wss://bob:pw@api.example',
    'https:\\\\bob:pw@api.example',
    'https:/bob:pw@api.example',
    'nats://bob:pw@one:4222,nats://two:4222',
    'ldaps://cn=admin:pw@directory.example',
    'https://bob:pw@[not-an-address',
  ])('are found in %s', (url) => {
    expect(holdsCredentials(url)).toBe(true);
    expect(withoutCredentials(url)).not.toContain('bob');
    expect(withoutCredentials(url)).not.toContain('pw');
  });

  it.each([
    'https://api.example/users/bob:pw@home',
    'https://api.example/?contact=bob@example.org',
    'https://api.example/#a@b',
    'mailto:bob@example.org',
    'upstream://books',
    'env://UPSTREAM_URL',
    'see https://bob:pw@api.example',
    'bob:pw@api.example',
    '',
  ])('are none in %j', (text) => {
    expect(holdsCredentials(text)).toBe(false);
  });

  it('are found wherever they stand, and hidden there, and all else stays', () => {
    const leaf = fc.oneof(
      fc.constantFrom('https://u:p@x', 'https://x/', 'env://A'),
      fc.string(),
      fc.integer(),
      fc.constant(null),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie('tree'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const text = JSON.stringify({ value });
        expect(credentialPlaces(JSON.parse(text))).toHaveLength(text.split('https://u:p@x').length - 1);
        expect(JSON.stringify(hideCredentials(JSON.parse(text)))).toBe(text.replaceAll('https://u:p@x', 'https://x'));
      }),
      propertyRuns(200),
    );
  });
});
