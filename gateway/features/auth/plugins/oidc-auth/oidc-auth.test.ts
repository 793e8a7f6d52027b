/** With a real issuer: gateway/features/auth/tests/oidc.test.ts. Here nobody listens where the issuer should be. */
import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const issuer_url = 'http://127.0.0.1:1';
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = { iss: issuer_url, sub: 'alice', exp: Math.floor(Date.now() / 1000) + 60 };
const token = `${part({ alg: 'RS256', kid: 'a' })}.${part(claims)}.AAAA`;

describe('oidc-auth', () => {
  it('answers 503 where the issuer cannot be asked, and says when to come again', async () => {
    const config = { issuer_url };
    const { answer, problem, requestHeaders } = await kit.onRequest({
      config,
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer?.headers['retry-after']).toBe('1');
    expect(problem).toEqual({
      type: 'urn:gw:error:issuer-unavailable',
      title: 'Service unavailable',
      status: 503,
      detail: 'the token issuer is unavailable, so the token cannot be validated',
    });
    expect(Object.keys(requestHeaders)).toEqual(['authorization']);
  });

  it('refuses what no key could make good, without the issuer', async () => {
    const config = { issuer_url };
    for (const authorization of [
      'Bearer a.b.c',
      `Bearer ${part({ alg: 'none' })}.${part(claims)}.AA`,
      'Basic YTpi',
      '',
    ]) {
      expect((await kit.onRequest({ config, headers: { authorization } })).answer?.status).toBe(401);
    }
  });

  it('takes a token out of the query, though it is refused', async () => {
    const config = { issuer_url, allow_query_token: true };
    const { answer, query } = await kit.onRequest({ config, path: '/a?x=1&access_token=wrong' });
    expect([answer?.status, query]).toEqual([401, 'x=1']);
    const ignored = await kit.onRequest({ config: { issuer_url }, path: '/a?access_token=wrong' });
    expect([ignored.answer?.status, ignored.query]).toEqual([401, 'access_token=wrong']);
  });

  it.each([
    {},
    { issuer_url: 'issuer' },
    { issuer_url: 'ftp://issuer.example' },
    { issuer_url: 'https://user:planted@issuer.example' },
    { issuer_url: 'https://issuer.example#a' },
    { issuer_url, required_scopes: 'a"b' },
    { issuer_url, jwks_refresh_seconds: 0 },
    { issuer_url, timeout: 0 },
    { issuer_url, unknown: 1 },
  ])('refuses the config %j', async (config) => {
    const refusal = await kit.bind(config).catch(String);
    expect(refusal).toMatch(/Error/);
    expect(refusal).not.toContain('planted');
  });
});
