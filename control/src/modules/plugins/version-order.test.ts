import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { compareVersions, newestVersion } from './version-order.ts';

/** Of semver.org, section 11, and what it leaves to taste behind it. */
const ORDERED = [
  '0.9.9',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.0+build',
  '1.2.0',
  '1.10.0',
  '99999999999999999999.0.0',
  '100000000000000000000.0.0',
];

const version = fc
  .tuple(
    fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20)),
    fc.constantFrom('', '-0', '-1', '-rc.1', '-rc.10', '-a-b', '-alpha.beta'),
    fc.stringMatching(/^(\+[0-9a-z]{1,4})?$/),
  )
  .map(([numbers, prerelease, build]) => numbers.join('.') + prerelease + build);

describe('the order of versions', () => {
  it('is that of Semantic Versioning', () => {
    expect(ORDERED.toReversed().sort(compareVersions)).toEqual(ORDERED);
  });

  it('is total: it turns round with its sides, chains, and only the same version is as new', () => {
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0);
        expect(compareVersions(a, b) === 0).toBe(a === b);
        const [low = '', middle = '', high = ''] = [a, b, c].sort(compareVersions);
        expect(compareVersions(low, middle)).toBeLessThanOrEqual(0);
        expect(compareVersions(low, high)).toBeLessThanOrEqual(0);
      }),
      propertyRuns(300),
    );
  });

  it('prefers releases where the newest is sought, and takes what there is', () => {
    expect(newestVersion(['1.0.0', '2.0.0-rc.1', '0.1.0'])).toBe('1.0.0');
    expect(newestVersion(['2.0.0-rc.1', '2.0.0-rc.2'])).toBe('2.0.0-rc.2');
    expect(() => newestVersion([])).toThrow(RangeError);
  });
});
