/** Answers of token endpoints, whatever they are: a token that can be sent and was asked for, or a failure in our words. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { ExchangeFailed } from './exchange-failed.ts';
import { ACCESS_TOKEN, ID_TOKEN, JWT, readExchangeRules } from './exchange-rules.ts';
import { issuedToken } from './token-answer.ts';
import { remainingMs } from './token-exchanger.ts';

const SERVER = 'https://login.example/token';
const REASONS = ['', 'invalid_target', 'invalid_scope', 'access_denied'];

const token = fc.oneof(fc.base64String(), fc.string({ unit: 'binary' }), fc.jsonValue());
const type = fc.constantFrom<unknown>(ACCESS_TOKEN, JWT, ID_TOKEN, 'urn:ietf:params:oauth:token-type:saml2', null, 1);
const error = fc.oneof(
  fc.constantFrom('invalid_grant', 'invalid_target', 'invalid_scope', 'invalid_client', '__proto__'),
  fc.jsonValue(),
);
const object = fc.record(
  {
    access_token: token,
    issued_token_type: type,
    token_type: fc.constantFrom<unknown>('Bearer', 'bearer', 'N_A', 'DPoP', 7),
    expires_in: fc.oneof(fc.double(), fc.jsonValue()),
    error,
    error_description: fc.constant('planted-text'),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  object.map((each) => Buffer.from(JSON.stringify(each))),
  fc.uint8Array().map((each) => Buffer.from(each)),
);
const headers: fc.Arbitrary<string[]> = fc.oneof(
  fc.constant<string[]>([]),
  fc.string().map((value) => ['retry-after', value]),
);
const status = fc.oneof(fc.constant(200), fc.integer({ min: 200, max: 599 }));

describe('answers of a token endpoint', () => {
  it('bring a token that can be sent, of a type that was asked for, or fail in words of ours', () => {
    fc.assert(
      fc.property(
        status,
        headers,
        body,
        fc.constantFrom([ACCESS_TOKEN, JWT], [ID_TOKEN]),
        (code, list, bytes, usable) => {
          try {
            const issued = issuedToken({ status: code, headers: list, body: bytes }, usable, SERVER);
            expect(code).toBe(200);
            expect(issued.token).toMatch(/^[\x21-\x7e]{1,16384}$/);
            expect(usable).toContain(JSON.parse(bytes.toString()).issued_token_type);
            expect(issued.lifetimeMs).toBeGreaterThanOrEqual(0);
          } catch (failure) {
            if (!(failure instanceof ExchangeFailed)) throw failure;
            expect(failure.message).toContain(SERVER);
            expect(failure.message + failure.reason).not.toContain('planted');
            if (failure.failure !== 'refused') expect(REASONS).toContain(failure.reason);
            expect(failure.retryAfter).toBeGreaterThanOrEqual(1);
            expect(failure.retryAfter).toBeLessThanOrEqual(86_400);
          }
        },
      ),
      propertyRuns(2000),
    );
  });
});

describe('the expiry of a token of a caller', () => {
  it('is read of any text, and is a number or no limit', () => {
    const claims = fc.oneof(fc.record({ exp: fc.oneof(fc.double(), fc.jsonValue()) }), fc.jsonValue());
    const signed = claims.map((each) => `e30.${Buffer.from(JSON.stringify(each)).toString('base64url')}.c2ln`);
    fc.assert(
      fc.property(fc.oneof(signed, fc.string()), (text) => {
        expect(remainingMs(text, 0)).not.toBeNaN();
      }),
      propertyRuns(500),
    );
    expect(remainingMs(`e30.${Buffer.from('{"exp":60}').toString('base64url')}.c2ln`, 10_000)).toBe(50_000);
  });
});

describe('rules of exchanges', () => {
  it('send the type of an actor beside its token alone, and nothing that is not given', () => {
    const given = { token_endpoint: SERVER, client_id: 'g', client_authentication: 'none' };
    const read = (more: object) => readExchangeRules(JSON.stringify({ ...given, ...more }), {}).parameters;
    const least = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: ACCESS_TOKEN,
    };
    expect(read({ actor_token_type: JWT })).toEqual(least);
    expect(read({ actor_token: 'a' })).toEqual({ ...least, actor_token: 'a', actor_token_type: ACCESS_TOKEN });
    expect(() => read({ client_authentication: 'tls_client_auth' })).toThrow('client_authentication');
    expect(() => read({ client_authentication: 'client_secret_post' })).toThrow('client_secret');
  });
});
