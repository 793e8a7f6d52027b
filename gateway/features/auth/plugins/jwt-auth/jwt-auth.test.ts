import { generateKeyPairSync, sign } from 'node:crypto';
import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const public_key = publicKey.export({ type: 'spki', format: 'pem' }).toString();

function tokenOf(claims: object, header: object = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 60;
  const input = `${part({ alg: 'ES256', ...header })}.${part({ sub: 'alice', exp, ...claims })}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());
const ask = (config: Record<string, string | boolean>, token: string, more: object = {}) =>
  kit.onRequest({ config: { public_key, ...config }, headers: { authorization: `Bearer ${token}`, ...more } });

describe('jwt-auth', () => {
  it('says who the caller is, in headers and context', async () => {
    const { outcome, requestHeaders, context, logs } = await ask({ groups_claim: 'roles' }, tokenOf({ roles: ['a'] }));
    expect(outcome).toBe('continue');
    expect(requestHeaders).toMatchObject({ 'x-auth-consumer': 'alice', 'x-auth-sub': 'alice' });
    expect(requestHeaders['x-auth-consumer-groups']).toBe('a');
    expect(JSON.parse(requestHeaders['x-auth-claims'] ?? '')).toMatchObject({ sub: 'alice', roles: ['a'] });
    expect(context).toEqual({ 'auth.consumer': 'alice' });
    expect(logs).toEqual([]);
  });

  it.each([
    ['https://example.org/roles', { 'https://example.org/roles': ['a', 'b'] }, 'a,b'],
    ['a~b', { 'a~b': 'c' }, 'c'],
    ['/realm/roles', { realm: { roles: ['a', '', 'b,c', 7] } }, 'a,b%2Cc,7'],
    ['roles', { roles: { a: true } }, ''],
    ['roles', { roles: null }, ''],
    ['roles', {}, ''],
  ])('reads the groups from %s: %j', async (groups_claim, claims, groups) => {
    const { requestHeaders } = await ask({ groups_claim }, tokenOf(claims));
    expect(requestHeaders['x-auth-consumer-groups']).toBe(groups);
  });

  it('takes out what an earlier plugin said, where the token does not say it', async () => {
    const earlier = { 'x-auth-consumer': 'earlier', 'x-auth-sub': 'earlier' };
    for (const sub of [undefined, '']) {
      const { outcome, requestHeaders, context } = await ask({}, tokenOf({ sub }), earlier);
      expect(outcome).toBe('continue');
      expect(requestHeaders).not.toHaveProperty('x-auth-consumer');
      expect(JSON.stringify(requestHeaders)).not.toContain('earlier');
      expect(context).toEqual({ 'auth.consumer': '' });
    }
  });

  it('says nothing of a caller that it refuses', async () => {
    const { answer, requestHeaders, context } = await ask({ issuer: 'x' }, tokenOf({}));
    expect(answer?.status).toBe(401);
    expect(Object.keys(requestHeaders)).toEqual(['authorization']);
    expect(context).toEqual({});
  });

  it('carries claims of any characters', async () => {
    const name = 'a"\\\u0000\u007f\u2028 ñ 100% 😀';
    const { requestHeaders } = await ask({}, tokenOf({ name }));
    const said = requestHeaders['x-auth-claims'] ?? '';
    expect(said).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(said)).toMatchObject({ name });
  });

  it.each([
    { issuer: '' },
    { clock_skew_seconds: -1 },
    { jwks_url: 'not a URL' },
    { algorithms: ['HS256'] },
    { algorithms: [] },
    { skip_signature_validation: true },
    { unknown: 1 },
  ])('refuses the config %j', async (config) => {
    await expect(kit.bind({ public_key, ...config })).rejects.toThrow();
  });
});
