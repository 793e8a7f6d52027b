/** With a real authorization server: gateway/features/auth/tests/oauth2.test.ts. Here nobody listens where it should be. */
import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const config = {
  introspection_endpoint: 'http://127.0.0.1:1/introspect',
  client_id: 'gateway',
  client_secret: 'planted-secret',
};

describe('oauth2-auth', () => {
  it('answers 503 where the server cannot be asked; one line in the log says why, without secrets', async () => {
    const { problem, requestHeaders, logs } = await kit.onRequest({
      config,
      headers: { authorization: 'Bearer planted-token' },
      httpCalls: [{ url: config.introspection_endpoint, fails: 'failed' }],
    });
    expect(problem).toMatchObject({ type: 'urn:gw:error:issuer-unavailable', status: 503 });
    expect(Object.keys(requestHeaders)).toEqual(['authorization']);
    expect(logs).toHaveLength(1);
    expect(logs[0]?.message).toContain('answers of http://127.0.0.1:1/introspect: unavailable');
    expect(JSON.stringify([logs, problem])).not.toContain('planted');
  });

  it('answers 401 without a token, and asks nobody', async () => {
    for (const headers of [{}, { authorization: 'Bearer' }, { authorization: 'Basic YTpi' }]) {
      const { answer, logs } = await kit.onRequest({ config, headers });
      expect([answer?.status, answer?.headers['www-authenticate']]).toEqual([401, 'Bearer realm="api"']);
      expect(logs).toEqual([]);
    }
  });

  it.each([
    {},
    { ...config, client_secret: '' },
    { ...config, introspection_endpoint: 'nowhere' },
    { ...config, introspection_endpoint: 'https://a:planted@login.example/' },
    { ...config, cache_ttl_seconds: -1 },
    { ...config, timeout: 0 },
    { ...config, unknown: 1 },
  ])('refuses a config that is not right (%#)', async (wrong) => {
    const refusal = await kit.bind(wrong).catch(String);
    expect(refusal).toMatch(/Error/);
    expect(refusal).not.toContain('planted');
  });
});
