import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const url = 'nats://nats.example:4222';

describe('subject-publish', () => {
  it.each([
    { url, subject: 'orders.placed' },
    { url: 'nats://a.example, tls://b.example:4443', subject: 'a' },
    { url, subject: 'a', user: 'gw', password: 'secret', allow_plaintext: true },
    { url, subject: 'a', ack_response: { body: { ok: true }, headers: { 'X-Ack': 'yes' } } },
  ])('takes the config %j', async (config) => {
    (await kit.bind(config)).close();
  });

  it.each([
    {},
    { url },
    { subject: 'a' },
    { url: 'http://nats.example', subject: 'a' },
    { url: 'nats://user:password@nats.example', subject: 'a' },
    { url, subject: '' },
    { url, subject: 'orders.*' },
    { url, subject: 'orders.>' },
    { url, subject: 'orders..placed' },
    { url, subject: 'a b' },
    { url, subject: 'a\r\nPUB x 0' },
    { url, subject: 'a', headers_from_request: ['Nats-Msg-Id'] },
    { url, subject: 'a', headers_from_request: ['a b'] },
    { url, subject: 'a', ack_response: { body: 'text' } },
    { url, subject: 'a', ack_response: { headers: { 'Content-Length': '1' } } },
    { url, subject: 'a', user: 'gw' },
    { url, subject: 'a', timeout: 0 },
    { url, subject: 'a', acknowledgement: 'maybe' },
    { url, subject: 'a', tls: { client_cert: 'a.crt' } },
  ])('refuses the config %j', async (config) => {
    await expect(kit.bind(config)).rejects.toThrow(/schema/);
  });

  it('refuses several credentials at once, and names none', async () => {
    const bound = kit.bind({ url, subject: 'a', token: 't0ken', nkey_seed: 'SUSEED' });
    await expect(bound).rejects.toThrow(/more than one of user, token, nkey_seed and credentials/);
    await expect(bound).rejects.not.toThrow(/t0ken|SUSEED/);
  });

  it('answers 502 where there is no connection', async () => {
    const config = { url: 'nats://127.0.0.1:1', subject: 'orders', timeout: 2 };
    const { outcome, problem } = await kit.dispatch({ config, method: 'POST', body: '{}' });
    expect(outcome).toBe('answered');
    expect(problem).toMatchObject({ type: 'urn:gw:error:upstream-failed', status: 502 });
  });
});
