import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

/** Of "U*U" and "password". */
const BCRYPT = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
const ARGON2 = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';

const config = {
  credentials: [
    { username: 'alice', password: 'open:sesame:', roles: ['admin', 'a,b'] },
    { username: 'bob', password: BCRYPT },
    { username: 'carol', password: ARGON2, roles: ['größe'] },
    { username: 'Zoë Ωmega', password: 'pässwörd ☃' },
  ],
};
const basic = (name: string, password: string, scheme = 'Basic') => ({
  authorization: `${scheme} ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});

describe('basic-auth', () => {
  it('says who the caller is, and takes the credentials out', async () => {
    const { outcome, requestHeaders, context } = await kit.onRequest({
      config,
      headers: basic('alice', 'open:sesame:'),
    });
    expect(outcome).toBe('continue');
    expect(requestHeaders).toEqual({
      'x-auth-consumer': 'alice',
      'x-auth-consumer-groups': 'admin,a%2Cb',
      'x-auth-user': 'alice',
      'x-auth-roles': 'admin,a%2Cb',
    });
    expect(context).toEqual({ 'auth.consumer': 'alice' });
  });

  it('verifies hashed passwords; x-auth-roles is there only where there are roles', async () => {
    const bob = await kit.onRequest({ config, headers: basic('bob', 'U*U') });
    expect(bob.requestHeaders).toEqual({
      'x-auth-consumer': 'bob',
      'x-auth-consumer-groups': '',
      'x-auth-user': 'bob',
    });
    const carol = await kit.onRequest({ config, headers: basic('carol', 'password') });
    expect(carol.requestHeaders).toMatchObject({ 'x-auth-user': 'carol', 'x-auth-roles': 'gr%C3%B6%C3%9Fe' });
    expect((await kit.onRequest({ config, headers: basic('carol', 'Password') })).answer?.status).toBe(401);
  });

  it('reads names and passwords as UTF-8', async () => {
    const { outcome, requestHeaders } = await kit.onRequest({ config, headers: basic('Zoë Ωmega', 'pässwörd ☃') });
    expect(outcome).toBe('continue');
    expect(requestHeaders['x-auth-consumer']).toBe('Zo%C3%AB %CE%A9mega');
    const latin1 = Buffer.from('Zoë Ωmega:pässwörd ☃', 'latin1').toString('base64');
    expect((await kit.onRequest({ config, headers: { authorization: `Basic ${latin1}` } })).answer?.status).toBe(401);
  });

  it('takes the scheme in any case, and forwards the credentials where it is told to', async () => {
    const headers = basic('alice', 'open:sesame:', 'bAsIC ');
    const kept = await kit.onRequest({ config: { ...config, strip_credentials: false }, headers });
    expect(kept.outcome).toBe('continue');
    expect(kept.requestHeaders['authorization']).toBe(headers.authorization);
  });

  const encoded = (text: string | Uint8Array) => `Basic ${Buffer.from(text).toString('base64')}`;
  it.each([
    ['no credentials', undefined],
    ['an unknown user', encoded('mallory:open:sesame:')],
    ['a wrong password', encoded('alice:open:sesame')],
    ['a hash as password', encoded(`bob:${BCRYPT}`)],
    ['an empty password', encoded('alice:')],
    ['an empty name', encoded(':open:sesame:')],
    ['no colon', encoded('alice')],
    ['another scheme', encoded('alice:open:sesame:').replace('Basic', 'Bearer')],
    ['nothing behind the scheme', 'Basic'],
    ['no base64', 'Basic %%%%'],
    ['base64 without its padding', `${encoded('alice:open:sesame:')}`.replace(/=*$/, '').slice(0, -1)],
    ['base64 with more behind it', `${encoded('alice:open:sesame:')} x`],
    ['base64 with bits that say nothing', 'Basic YWxpY2U6b3BlbjpzZXNhbWV='],
    ['a control character', encoded('alice:open:sesame:\u0000')],
    ['what is not UTF-8', encoded(Buffer.from([0x61, 0x3a, 0xff, 0xfe]))],
    ['an overlong form', encoded(Buffer.from([0xc1, 0xa1, 0x3a, 0x61]))],
  ])('answers 401 to %s, and says the same each time', async (_what, authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    const { outcome, answer, problem, requestHeaders, logs } = await kit.onRequest({ config, headers });
    expect(outcome).toBe('answered');
    expect(answer?.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'www-authenticate': 'Basic realm="api"',
    });
    expect(problem).toEqual({
      type: 'urn:gw:error:authentication-failed',
      title: 'Authentication failed',
      status: 401,
      detail: 'Invalid username or password',
    });
    expect(requestHeaders).not.toHaveProperty('x-auth-consumer');
    expect(logs).toEqual([]);
  });

  it('reads any header without harm: 401, or the user whose credentials it holds', async () => {
    const plain = { credentials: [{ username: 'alice', password: 'open:sesame:' }] };
    const bytes = fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each).toString('base64'));
    const text = fc.string({ unit: fc.constantFrom(...'aZ09+/=: \t\\"Bb\u00ff'), maxLength: 40 });
    const property = fc.asyncProperty(
      fc.constantFrom('Basic ', 'basic\t', 'Basic', ''),
      fc.oneof(bytes, text),
      async (scheme, rest) => {
        const { answer, logs } = await kit.onRequest({ config: plain, headers: { authorization: scheme + rest } });
        expect([answer?.status, logs]).toEqual([401, []]);
      },
    );
    await fc.assert(property, propertyRuns(200));
  });

  it('answers 401 to two Authorization headers', async () => {
    const { authorization } = basic('alice', 'open:sesame:');
    const headers = { authorization: [authorization, authorization] };
    expect((await kit.onRequest({ config, headers })).answer?.status).toBe(401);
  });

  it('names the realm, quoted', async () => {
    const { answer } = await kit.onRequest({ config: { realm: 'my "api" \\' } });
    expect(answer?.headers['www-authenticate']).toBe('Basic realm="my \\"api\\" \\\\"');
  });

  it.each([
    ['an empty password', [{ username: 'a', password: '' }], /password/],
    ['no password', [{ username: 'a' }], /password/],
    ['a colon in a name', [{ username: 'a:b', password: 'x' }], /username/],
    [
      'a user twice',
      [
        { username: 'a', password: 'x' },
        { username: 'a', password: 'y' },
      ],
      /\/credentials\/1 has the same username as entry 0/,
    ],
    ['a hash of another kind', [{ username: 'a', password: '$6$salt$abc' }], /\/credentials\/0: password looks like/],
  ])('refuses a table with %s', async (_what, credentials, says) => {
    await expect(kit.bind({ credentials })).rejects.toThrow(says);
  });
});
