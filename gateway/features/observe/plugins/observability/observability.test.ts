import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const field = (config: Record<string, string | number | boolean | string[]>) => ({ fields: { tenant: config } });

describe('the config of observability', () => {
  it('needs nothing, and takes nothing that is not there', async () => {
    (await kit.bind({})).close();
    (await kit.bind({ slow_after: 0.25, log_sample: 0 })).close();
    (await kit.bind(field({ from: 'header:X-Tenant', values: ['a'], metrics: true }))).close();
    (await kit.bind(field({ from: 'context:plan' }))).close();
    await expect(kit.bind({ slow: 1 })).rejects.toThrow('schema');
    await expect(kit.bind(field({ from: 'consumer', label: true }))).rejects.toThrow('schema');
  });

  it.each([
    ['slow_after', 0],
    ['slow_after', 3601],
    ['log_sample', 1.1],
    ['log_sample', -1],
    ['fields', { Tenant: { from: 'consumer' } }],
    ['fields', { 'x"y': { from: 'consumer' } }],
    ['fields', { tenant: {} }],
    ['fields', { tenant: { from: 'query:token' } }],
    ['fields', { tenant: { from: 'header:' } }],
    ['fields', { tenant: { from: 'header:x y' } }],
    ['fields', { tenant: { from: 'consumer', values: [] } }],
    ['fields', { tenant: { from: 'consumer', max_values: 1001 } }],
  ])('refuses a value that %s cannot have: %j', async (name, value) => {
    await expect(kit.bind({ [name]: value })).rejects.toThrow('schema');
  });

  it('wants a list of what the metrics tell apart, unless it is the consumer', async () => {
    (await kit.bind(field({ from: 'consumer', metrics: true }))).close();
    await expect(kit.bind(field({ from: 'header:x-tenant', metrics: true }))).rejects.toThrow('fields.tenant: list');
    await expect(kit.bind(field({ from: 'context:ai.model', metrics: true }))).rejects.toThrow('fields.tenant: list');
  });

  it.each(['Authorization', 'cookie', 'X-API-Key', 'x-amz-security-token', 'x-hub-signature-256'])(
    'takes nothing out of %s, which holds credentials',
    async (header) => {
      await expect(kit.bind(field({ from: `header:${header}` }))).rejects.toThrow('credential');
    },
  );
});

describe('observability', () => {
  it('lets every request pass as it is', async () => {
    const config = { slow_after: 1, ...field({ from: 'header:x-tenant' }) };
    const result = await kit.onRequest({ config, path: '/books?q=1', headers: { accept: '*/*' }, body: 'b' });
    expect(result).toMatchObject({ outcome: 'continue', answer: null, staged: {}, query: 'q=1', requestBody: null });
    expect(result.requestHeaders).toEqual({ accept: '*/*' });
    expect(result.logs).toEqual([]);
  });
});
