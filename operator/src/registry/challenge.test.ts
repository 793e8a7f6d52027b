import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { inTime } from '../../../test/time-limit.ts';
import { parseChallenges } from './challenge.ts';

const read = (header: string) =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);

describe('challenges', () => {
  it.each([
    ['Basic realm="a b"', [['basic', { realm: 'a b' }]]],
    [
      'Bearer realm="https://auth.example.org/token",service="r.example.org",scope="repository:a/b:pull,push"',
      [
        [
          'bearer',
          { realm: 'https://auth.example.org/token', service: 'r.example.org', scope: 'repository:a/b:pull,push' },
        ],
      ],
    ],
    [
      'Bearer realm=https://auth.example.org/token, Basic realm="x\\"y"',
      [
        ['bearer', { realm: 'https://auth.example.org/token' }],
        ['basic', { realm: 'x"y' }],
      ],
    ],
    [
      'Negotiate YWJj==, Basic realm=x',
      [
        ['negotiate', {}],
        ['basic', { realm: 'x' }],
      ],
    ],
    [
      'Negotiate, Bearer REALM = "x"',
      [
        ['negotiate', {}],
        ['bearer', { realm: 'x' }],
      ],
    ],
    ['', []],
    ['"broken', []],
  ])('%s', (header, expected) => {
    expect(read(header)).toEqual(expected);
  });

  it('are read back whatever their parameters hold', () => {
    const token = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,10}$/);
    const value = fc.string({ unit: 'grapheme-ascii', maxLength: 20 });
    const challenge = fc.tuple(
      token,
      fc.dictionary(
        token.map((name) => name.toLowerCase()),
        value,
        { minKeys: 1, maxKeys: 4 },
      ),
    );
    fc.assert(
      fc.property(fc.array(challenge, { maxLength: 4 }), (challenges) => {
        const header = challenges
          .map(([scheme, parameters]) => {
            const pairs = Object.entries(parameters).map(
              ([name, text]) => `${name}="${text.replace(/["\\]/g, (char) => `\\${char}`)}"`,
            );
            return `${scheme} ${pairs.join(', ')}`;
          })
          .join(', ');
        const expected = challenges.map(([scheme, parameters]) => [scheme.toLowerCase(), { ...parameters }]);
        expect(read(header)).toEqual(expected);
      }),
      propertyRuns(300),
    );
  });

  it('end, whatever is sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 4000 }), (header) => {
        expect(parseChallenges(header).length).toBeLessThanOrEqual(header.length);
      }),
      propertyRuns(300),
    );
    inTime(() => {
      parseChallenges(`Bearer ${'a="\\'.repeat(20_000)}`);
      parseChallenges(`B ${' ,'.repeat(20_000)}${'a='.repeat(20_000)}`);
    }, 2000);
  });
});
