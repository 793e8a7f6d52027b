import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const base = { brokers: 'kafka.example:9092', topic: 'orders' };
const sasl = { mechanism: 'scram-sha-512', username: 'gw', password: 'secret' };

describe('stream-subscribe', () => {
  it.each([
    base,
    { ...base, key: '$request.path.id', from: 'earliest', include_metadata: true },
    { ...base, max_clients: 1, heartbeat: 1, retry: 0.5, max_duration: 0, timeout: 0.5 },
    { ...base, max_lag: { messages: 1 } },
    { ...base, max_lag: { bytes: 1024 } },
    { ...base, sasl, tls: {} },
    { ...base, sasl: { ...sasl, mechanism: 'plain' }, allow_plaintext: true },
  ])('takes the config %j', async (config) => {
    (await kit.bind(config)).close();
  });

  it.each([
    {},
    { brokers: 'a' },
    { topic: 'a' },
    { ...base, topic: 'a b' },
    { ...base, key: '$request.query.a' },
    { ...base, from: 'now' },
    { ...base, max_clients: 0 },
    { ...base, heartbeat: 0 },
    { ...base, max_lag: { messages: 0 } },
    { ...base, max_lag: { seconds: 1 } },
    { ...base, max_duration: -1 },
    { ...base, idempotency: {} },
    { ...base, sasl: { ...sasl, mechanism: 'gssapi' } },
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
    const config = { brokers: '127.0.0.1:1', topic: 'orders', timeout: 3 };
    const { outcome, problem } = await kit.dispatch({ config });
    expect(outcome).toBe('answered');
    expect(problem).toMatchObject({ type: 'urn:gw:error:upstream-failed', status: 502 });
  });

  it('answers 400 where the request lacks the header that the key is taken from', async () => {
    const { problem } = await kit.dispatch({ config: { ...base, key: '$request.header.x-customer' } });
    expect(problem).toMatchObject({ type: 'urn:gw:error:validation-failed', status: 400 });
  });
});
