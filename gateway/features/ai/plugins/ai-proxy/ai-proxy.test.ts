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
    {
      ...target,
      balance: 'latency',
      endpoints: [
        { api_key: 'a', weight: 3 },
        { base_url: 'https://b.example', auth: 'api_key' },
      ],
    },
    { targets: { one: { ...target, balance: 'cost', endpoints: [{ price: 0 }, { price: 1.5 }] } } },
    { ...target, aliases: { fast: { model: 'gpt-5', fallback: [{ model: 'b' }] } } },
    { targets: { one: target }, aliases: { fast: { model: 'gpt-5', target: 'one' } } },
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
    { ...target, endpoints: [] },
    { ...target, endpoints: Array(17).fill({}) },
    { ...target, endpoints: [{ weight: 0 }] },
    { ...target, endpoints: [{ weight: 1.5 }] },
    { ...target, endpoints: [{ price: -1 }] },
    { ...target, endpoints: [{ base_url: 'ftp://models.example' }] },
    { ...target, endpoints: [{ allow: ['a'] }] },
    { ...target, balance: 'random' },
    { endpoints: [{}], targets: { one: target } },
    { ...target, aliases: { fast: 'gpt-5' } },
    { ...target, aliases: { fast: {} } },
    { ...target, aliases: { '': { model: 'a' } } },
    { ...target, aliases: { fast: { model: 'a', fallback: [] } } },
    { aliases: { fast: { model: 'a' } } },
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

  it.each([
    { fast: { model: 'a', target: 'two' } },
    { fast: { model: 'a', fallback: [{ model: 'b', target: 'two' }] } },
  ])('has aliases whose targets it has: %j', async (aliases) => {
    await expect(kit.bind({ targets: { one: target }, aliases })).rejects.toThrow('targets');
  });

  const files = { id_key: 'k'.repeat(32) };
  const several = { ...target, endpoints: [{ api_key: 'a' }, { api_key: 'b' }] };

  it.each([
    { ...target, files },
    { ...target, files: { ...files, anonymous: 'allow' } },
    { ...several, targets: { one: target }, files: { ...files, target: 'one' } },
    { ...several, targets: { one: target }, default_target: 'one', files },
    { targets: { one: target, two: several }, default_target: 'one', files },
    { provider: 'provider_local', files },
  ])('has files at a target that can have them: %j', async (config) => {
    (await kit.bind(config)).close();
  });

  it.each([
    [{ ...target, files: {} }, 'schema'],
    [{ ...target, files: { id_key: 'short' } }, 'schema'],
    [{ ...target, files: { ...files, target: 'one' } }, 'files.target'],
    [{ routes: [{ pattern: '*', ...target }], files }, 'files needs a target'],
    [{ ...several, files }, 'endpoints'],
    [{ targets: { one: { ...target, allow: ['a'] } }, default_target: 'one', files }, 'allow'],
    [{ targets: { one: { ...target, deny: ['a'] } }, files: { ...files, target: 'one' } }, 'deny'],
  ])('has no files elsewhere: %j', async (config, why) => {
    await expect(kit.bind(config)).rejects.toThrow(why);
  });

  it('has a price of each endpoint where the cheapest is asked', async () => {
    await expect(kit.bind({ ...target, balance: 'cost', endpoints: [{ price: 1 }, {}] })).rejects.toThrow('price');
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
