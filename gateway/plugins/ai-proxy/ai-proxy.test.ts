import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const target = { provider: 'provider_chat' };

describe('the config of ai-proxy', () => {
  it.each([
    { provider: 'provider_messages', api_key: 'k', max_tokens: 9, auth: { header: 'x-token' } },
    { provider: 'provider_local', auth: { query: 'key' }, fallback: [{ provider: 'provider_chat', deny: ['a'] }] },
    { targets: { one: target }, default_target: 'one' },
    { targets: { one: target } },
    { routes: [{ pattern: 'gpt-4.[0-9]*', ...target, allow: ['[!a-c]?'] }] },
  ])('has a provider, targets or routes: %j', async (config) => {
    (await kit.bind(config)).close();
  });

  it.each([
    {},
    { targets: {} },
    { routes: [] },
    { default_target: 'one' },
    { provider: 'openai' },
    { ...target, model: 'gpt-4o' },
    { ...target, timeout: 0 },
    { ...target, max_tokens: 0 },
    { ...target, api_key: 'two words' },
    { ...target, base_url: 'ftp://models.example' },
    { ...target, auth: { header: 'not a name' } },
    { ...target, auth: { header: 'Content-Length' } },
    { ...target, auth: 'basic' },
    { routes: [target] },
    { routes: [{ pattern: 'gpt-{4,5}', ...target }] },
    { routes: [{ pattern: '^gpt', ...target }] },
    { routes: [{ pattern: 'gpt-(4|5)', ...target }] },
    { routes: [{ pattern: 'gpt-[4', ...target }] },
    { targets: { one: { ...target, allow: ['a\\d'] } } },
  ])('takes nothing that could not be served: %j', async (config) => {
    await expect(kit.bind(config)).rejects.toThrow('schema');
  });

  it('names a default target that it has', async () => {
    await expect(kit.bind({ targets: { one: target }, default_target: 'two' })).rejects.toThrow('default_target');
  });

  it('shows nothing of a credential that cannot be sent', async () => {
    const bound = kit.bind({ ...target, api_key: 'ключ' });
    await expect(bound).rejects.toThrow('schema');
    await expect(bound).rejects.not.toThrow('ключ');
  });
});

describe('ai-proxy', () => {
  it('hands the request off', async () => {
    const { outcome } = await kit.dispatch({ config: target, method: 'POST', body: '{}' });
    expect(outcome).toBe('handed-off');
  });
});
