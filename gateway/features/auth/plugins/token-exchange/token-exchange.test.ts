/** With an authorization server: gateway/features/auth/tests/token-exchange.test.ts. Here nobody listens where it should be. */
import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const config = {
  token_endpoint: 'http://127.0.0.1:1/token',
  client_id: 'gateway',
  client_secret: 'planted-secret',
  audience: 'orders',
};
const authorization = 'Bearer planted-token';

describe('token-exchange', () => {
  it('answers 503 where the server cannot be asked; one line in the log says why, without secrets', async () => {
    const httpCalls = [{ url: config.token_endpoint, fails: 'failed' as const }];
    const first = await kit.onRequest({ config, headers: { authorization }, httpCalls });
    expect(first.problem).toMatchObject({ type: 'urn:gw:error:issuer-unavailable', status: 503 });
    expect(first.answer?.headers['retry-after']).toBe('1');
    expect(first.logs).toHaveLength(1);
    expect(first.logs[0]?.message).toContain('token exchange at http://127.0.0.1:1/token: unavailable');
    const { logs } = await kit.onRequest({ config, headers: { authorization }, httpCalls });
    expect(logs).toEqual([]);
    expect(JSON.stringify([first.logs, first.problem])).not.toContain('planted');
  });

  it('answers 401 without a token, and asks nobody', async () => {
    for (const headers of [{}, { authorization: 'Bearer' }, { authorization: 'Basic YTpi' }]) {
      const { answer, problem, logs } = await kit.onRequest({ config, headers });
      expect([answer?.headers['www-authenticate'], problem?.type]).toEqual([
        'Bearer realm="api"',
        'urn:gw:error:unauthorized',
      ]);
      expect(logs).toEqual([]);
    }
  });

  it.each([
    ['a b', 'characters'],
    ['a"b', 'characters'],
    ['ä', 'characters'],
    ['one, Bearer two', 'characters'],
    ['x'.repeat(16_385), 'too long'],
  ])('answers 401 to what cannot be a token, and asks nobody (%#)', async (token, reason) => {
    const { answer } = await kit.onRequest({ config, headers: { authorization: `Bearer ${token}` } });
    expect(answer?.status).toBe(401);
    expect(answer?.headers['www-authenticate']).toMatch(new RegExp(`error="invalid_token".*${reason}`));
  });

  it.each([
    {},
    { ...config, client_secret: '' },
    { ...config, client_authentication: 'none' },
    { ...config, client_authentication: 'private_key_jwt' },
    { token_endpoint: config.token_endpoint, client_id: 'gateway' },
    { ...config, token_endpoint: 'nowhere' },
    { ...config, token_endpoint: 'https://a:planted@login.example/' },
    { ...config, resource: 'orders' },
    { ...config, resource: 'https://orders.example/#part' },
    { ...config, scope: 'read  write' },
    { ...config, requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
    { ...config, subject_token_type: 'jwt' },
    { ...config, cache_ttl_seconds: -1 },
    { ...config, timeout: 0 },
    { ...config, unknown: 1 },
  ])('refuses a config that is not right (%#)', async (wrong) => {
    const refusal = await kit.bind(wrong).catch(String);
    expect(refusal).toMatch(/Error/);
    expect(refusal).not.toContain('planted');
  });

  it('needs no secret where the client has none', async () => {
    await kit.bind({ token_endpoint: config.token_endpoint, client_id: 'gateway', client_authentication: 'none' });
  });
});
