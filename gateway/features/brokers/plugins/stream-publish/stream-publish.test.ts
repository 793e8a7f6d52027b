import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const base = { brokers: 'kafka.example:9092', topic: 'orders' };
const sasl = { mechanism: 'scram-sha-512', username: 'gw', password: 'secret' };

describe('stream-publish', () => {
  it.each([
    base,
    { brokers: 'a.example, b.example:9093,[2001:db8::1]:9092', topic: 'a.b-c_d' },
    { ...base, key: '$request.header.X-Customer' },
    { ...base, key: '$request.path.id' },
    { ...base, key: 'all' },
    { ...base, sasl },
    { ...base, sasl: { ...sasl, mechanism: 'plain' }, tls: {} },
    { ...base, sasl: { ...sasl, mechanism: 'plain' }, allow_plaintext: true },
  ])('takes the config %j', async (config) => {
    (await kit.bind(config)).close();
  });

  it.each([
    {},
    { brokers: 'a' },
    { topic: 'a' },
    { brokers: 'kafka://a', topic: 'a' },
    { ...base, topic: '' },
    { ...base, topic: 'a b' },
    { ...base, topic: '..' },
    { ...base, key: '' },
    { ...base, key: '$request.query.a' },
    { ...base, key: '$request.header.' },
    { ...base, headers_from_request: ['a b'] },
    { ...base, include_metadata: 'yes' },
    { ...base, ack_response: { body: [] } },
    { ...base, sasl: { ...sasl, mechanism: 'gssapi' } },
    { ...base, sasl: { mechanism: 'plain', username: 'gw' } },
    { ...base, tls: { client_key: 'a.key' } },
  ])('refuses the config %j', async (config) => {
    await expect(kit.bind(config)).rejects.toThrow(/schema/);
  });

  it('refuses to send a password in the clear, and does not name it', async () => {
    const bound = kit.bind({ ...base, sasl: { ...sasl, mechanism: 'plain' } });
    await expect(bound).rejects.toThrow(/allow_plaintext/);
    await expect(bound).rejects.not.toThrow(/secret/);
  });

  it('answers 502 where there is no connection', async () => {
    const config = { brokers: '127.0.0.1:1', topic: 'orders', timeout: 2 };
    const { outcome, problem } = await kit.dispatch({ config, method: 'POST', body: '{}' });
    expect(outcome).toBe('answered');
    expect(problem).toMatchObject({ type: 'urn:gw:error:upstream-failed', status: 502 });
  });
});
