/** Clients of messages through ai-proxy and a real `gw serve`: the official library, unchanged but for its base address. */
import Anthropic, { APIError, BadRequestError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AiRig, last, startAi } from './ai-gateway.ts';
import { jsonOf } from './gateway.ts';
import { scrape } from './scrape.ts';

let rig: AiRig;
let client: Anthropic;
beforeAll(async () => {
  rig = await startAi();
  client = new Anthropic({ apiKey: 'of-the-client', baseURL: rig.gw.url, maxRetries: 0 });
});
afterAll(async () => expect(await rig.close()).toBe(0));

const asked = {
  model: 'claude-4',
  max_tokens: 99,
  messages: [{ role: 'user' as const, content: 'Guten Tag, schöne Welt' }],
};

describe('messages', () => {
  it('pass byte for byte, with the credential of the gateway, and are counted', async () => {
    const before = await scrape(rig.gw.admin);
    const text = '{ "model":"claude-4","max_tokens":9.0,"messages":[{"role":"user","content":"h\\u00e9"}] }';
    const response = await rig.post('/v1/messages', text);
    expect(await jsonOf(response)).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'hé' }] });
    expect(last(rig.messages)?.text).toBe(text);
    expect(last(rig.messages)?.headers['x-api-key']).not.toBe('of-the-client');
    const counted = (metrics: typeof before) =>
      metrics.value('gw_plugin_ai_proxy_tokens_total', { provider: 'provider_messages', type: 'completion' });
    await expect.poll(async () => counted(await scrape(rig.gw.admin)) - counted(before)).toBe(8);
  });

  it('are what the client library takes for them, whole and in streams', async () => {
    expect((await client.messages.create(asked)).content).toMatchObject([{ text: 'Guten Tag, schöne Welt' }]);
    for (const model of ['claude-4', 'byte-by-byte']) {
      const message = await client.messages.stream({ ...asked, model }).finalMessage();
      expect(message.content.filter(({ type }) => type === 'text')).toMatchObject([{ text: 'Guten Tag, schöne Welt' }]);
      expect(message.usage.output_tokens).toBe(8);
    }
  });

  it('have a limit of tokens where the client names none', async () => {
    const { max_tokens: _, ...unlimited } = asked;
    expect((await rig.post('/limited/v1/messages', unlimited)).status).toBe(200);
    expect(last(rig.messages)?.body['max_tokens']).toBe(9);
  });

  it('are refused by providers of chat completions, which are passed over among fallbacks', async () => {
    const chat = new Anthropic({ apiKey: 'none', baseURL: `${rig.gw.url}/chat`, maxRetries: 0 });
    const refused: unknown = await chat.messages.create(asked).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(refused).toMatchObject({ error: { code: 'messages_not_supported_for_provider' } });
    expect((await rig.post('/fallback/v1/messages', asked)).status).toBe(200);
  });

  it('have errors of the provider as it says them', async () => {
    const refused: unknown = await client.messages
      .create({ ...asked, model: 'status-429' })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(APIError);
    expect(refused).toMatchObject({ status: 429, error: { type: 'error', error: { type: 'rate_limit_error' } } });
  });

  it.each(['half', 'ends-early', 'huge'])('end with an error where a stream breaks off: %s', async (model) => {
    const stream = client.messages.stream({ ...asked, model });
    await expect(stream.finalMessage()).rejects.toThrow('before it was whole');
  });

  it.each(['garbage', 'cut', 'empty'])('are 502 where a stream never begins: %s', async (model) => {
    expect((await rig.post('/v1/messages', { ...asked, model, stream: true })).status).toBe(502);
  });
});
