/** Reading tokens, whatever they are: no crash, and nothing read otherwise than by any JSON parser (RFC 8725, section 2). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { checkClaims, checkTime } from './claims.ts';
import { ALGORITHMS, isCanonical, readToken } from './jws.ts';
import { KeyTable } from './key-table.ts';
import { KeyError } from './public-key.ts';
import { strictObject } from './strict-json.ts';
import { TokenRefused } from './token-refused.ts';

const bytes = (text: string) => Buffer.from(text);
const part = (text: string) => bytes(text).toString('base64url');
const algorithms = new Set(ALGORITHMS);
const rules = { issuer: 'i', audience: 'a', skewMs: 60_000 };

const isOneText = (text: string) => Buffer.from(text, 'base64url').toString('base64url') === text;

/** Runs, and lets errors of this kind pass only. */
function refuses(kind: new (message: string) => Error, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(kind);
  }
}

describe('objects of tokens', () => {
  it('are read as JSON.parse reads them', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const text = JSON.stringify(object);
        expect(strictObject(bytes(text))).toEqual(JSON.parse(text));
        expect(strictObject(bytes(JSON.stringify(object, null, 2)))).toEqual(JSON.parse(text));
      }),
      propertyRuns(300),
    );
  });

  it('are refused where a member comes twice, however deep and however spelt', () => {
    const inside = fc.constantFrom('X', '[X]', '{"a":X}', '{"a":"}{\\"","b":[1,{"c":X}]}');
    const spelling = fc.constantFrom('"name"', '"n\\u0061me"', '"\\u006eame"');
    fc.assert(
      fc.property(inside, spelling, fc.jsonValue(), (around, name, value) => {
        const twice = `{"name":1,"other":${JSON.stringify(value)},${name}:2}`;
        const text = around.replace('X', () => twice);
        expect(strictObject(bytes(`{"top":${text}}`))).toBeNull();
      }),
      propertyRuns(200),
    );
  });

  it('are nothing else than objects in UTF-8', () => {
    for (const text of ['[]', '"a"', 'null', '1', '', '{', '{"a":1}x', '{"a":1,}', "{'a':1}"]) {
      expect(strictObject(bytes(text))).toBeNull();
    }
    expect(strictObject(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBeNull();
    expect(strictObject(Buffer.from('\ufeff{"a":1}'))).toBeNull();
  });

  it('hold no half of a surrogate pair, which would read like any other', () => {
    for (const half of ['\\ud800', '\\uDFFF', 'a\\\\\\udabc']) {
      expect(strictObject(bytes(`{"sub":"${half}"}`))).toBeNull();
      expect(strictObject(bytes(`{"${half}":1}`))).toBeNull();
      expect(strictObject(bytes(`{"groups":["x","${half}"]}`))).toBeNull();
    }
    for (const whole of ['\\ud83d\\ude00', '\\\\ud800', '\\ufffd']) {
      expect(strictObject(bytes(`{"sub":"${whole}"}`))).toEqual({ sub: JSON.parse(`"${whole}"`) });
    }
  });
});

describe('tokens', () => {
  const json = fc.json({ depthSize: 'small' });
  const token = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.tuple(json, json, fc.base64String()).map(([head, claims, end]) => `${part(head)}.${part(claims)}.${end}`),
    fc
      .record({ alg: fc.constantFrom('RS256', 'ES256', 'none', 1), kid: fc.jsonValue(), typ: fc.jsonValue() })
      .map((head) => `${part(JSON.stringify(head))}.${part('{}')}.AA`),
  );

  it('are read or refused, and never anything else', () => {
    fc.assert(
      fc.property(token, (text) => {
        refuses(TokenRefused, () => {
          const { alg, kid } = readToken(text, algorithms);
          expect(ALGORITHMS).toContain(alg);
          expect(typeof kid === 'string' || kid === undefined).toBe(true);
        });
      }),
      propertyRuns(500),
    );
  });

  it('have one text: with any other last character that means the same bytes they are refused', () => {
    const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const parts = fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.uint8Array({ minLength: 1, maxLength: 70 }));
    fc.assert(
      fc.property(parts, fc.nat(2), fc.nat(63), ([claims, signature], which, other) => {
        const good = [
          part('{"alg":"RS256"}'),
          part(JSON.stringify(claims)),
          Buffer.from(signature).toString('base64url'),
        ];
        expect(good.every(isCanonical)).toBe(true);
        const changed = (good[which] ?? '').slice(0, -1) + characters[other];
        const same = Buffer.from(changed, 'base64url').equals(Buffer.from(good[which] ?? '', 'base64url'));
        expect(isCanonical(changed)).toBe(changed === good[which] || (!same && isOneText(changed)));
        if (!same || changed === good[which]) return;
        expect(() => readToken(good.with(which, changed).join('.'), algorithms)).toThrow(TokenRefused);
      }),
      propertyRuns(2000),
    );
  });

  it('hold only with the issuer, the audience and numbers as times', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('i', 'a', ['a'], ['b', 'a']), fc.integer());
    const claims = fc.dictionary(fc.constantFrom('iss', 'aud', 'exp', 'nbf', 'iat', '__proto__'), value);
    fc.assert(
      fc.property(claims, fc.integer({ min: 0, max: 4e12 }), (given, now) => {
        refuses(TokenRefused, () => {
          checkTime(checkClaims(given, rules), rules.skewMs, now);
          expect(given['iss']).toBe('i');
          expect([given['aud']].flat()).toContain('a');
          expect(Number(given['exp']) * 1000 + rules.skewMs).toBeGreaterThan(now);
        });
      }),
      propertyRuns(500),
    );
  });
});

describe('key sets', () => {
  it('are read or refused, whatever their keys are', () => {
    const member = fc.constantFrom('kty', 'n', 'e', 'crv', 'x', 'y', 'alg', 'use', 'kid', 'key_ops', 'k', 'd');
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('RSA', 'EC', 'oct', 'OKP', 'P-256', 'AQAB', 'sig', 'RS256'));
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.dictionary(member, value), fc.jsonValue()), { maxLength: 5 }), (keys) => {
        refuses(KeyError, () => KeyTable.ofJwks({ keys }));
      }),
      propertyRuns(300),
    );
    for (const set of [null, [], {}, { keys: {} }, { keys: 'x' }, { keys: Array(101).fill({}) }]) {
      expect(() => KeyTable.ofJwks(set)).toThrow(KeyError);
    }
  });
});
