import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const base = { url: 'nats://nats.example', subject: 'orders.created' };

describe('subject-subscribe', () => {
  it.each([
    base,
    { ...base, subject: 'orders.{region}.*.>' },
    { ...base, subject: '>' },
    { ...base, subject: '{id}' },
    { ...base, stream: 'required', from: 'earliest', include_metadata: true },
    { ...base, max_clients: 1, heartbeat: 1, retry: 0.5, max_duration: 0, timeout: 0.5, max_lag: { messages: 1 } },
    { ...base, url: 'tls://a.example:4222, nats://b.example', user: 'gw', password: 'secret' },
  ])('takes the config %j', async (config) => {
    (await kit.bind(config)).close();
  });

  it.each([
    {},
    { url: 'nats://a' },
    { subject: 'a' },
    { ...base, url: 'http://a' },
    { ...base, subject: '' },
    { ...base, subject: 'a..b' },
    { ...base, subject: 'a b' },
    { ...base, subject: 'a.>.b' },
    { ...base, subject: 'a.x{id}' },
    { ...base, subject: 'a.b*' },
    { ...base, stream: 'always' },
    { ...base, max_clients: 0 },
    { ...base, acknowledgement: 'auto' },
    { ...base, user: 'gw', token: 'secret' },
  ])('refuses the config %j', async (config) => {
    await expect(kit.bind(config)).rejects.toThrow(/schema/);
  });

  it('answers 502 where there is no connection', async () => {
    const { outcome, problem } = await kit.dispatch({ config: { ...base, url: 'nats://127.0.0.1:1', timeout: 3 } });
    expect(outcome).toBe('answered');
    expect(problem).toMatchObject({ type: 'urn:gw:error:upstream-failed', status: 502 });
  });
});
