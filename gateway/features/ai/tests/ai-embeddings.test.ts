/** Embeddings through ai-proxy and a real `gw serve`, with the official client. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY } from '../../../../test/ai/chat-provider.ts';
import { jsonOf } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import { type AiRig, last, startAi } from './ai-gateway.ts';

let rig: AiRig;
beforeAll(async () => {
  rig = await startAi();
});
afterAll(async () => expect(await rig.close()).toBe(0));

const asked = { model: 'text-embedding-3-small', input: ['one', 'three'] };
const EMBEDDED = [
  { object: 'embedding', index: 0, embedding: [3, 0] },
  { object: 'embedding', index: 1, embedding: [5, 1] },
];

describe('embeddings', () => {
  it('come from providers of chat completions, as the client asks for them', async () => {
    const before = await scrape(rig.gw.admin);
    const text = '{ "model":"m", "input":["one","three"], "dimensions": 2.0 }';
    const response = await rig.post('/v1/embeddings', text);
    expect(await jsonOf(response)).toMatchObject({ object: 'list', data: EMBEDDED, usage: { prompt_tokens: 21 } });
    expect([last(rig.chat)?.url, last(rig.chat)?.text]).toEqual(['/v1/embeddings', text]);
    const tokens = (metrics: typeof before) =>
      metrics.value('gw_plugin_ai_proxy_tokens_total', { provider: 'provider_chat', type: 'prompt' });
    await expect.poll(async () => tokens(await scrape(rig.gw.admin)) - tokens(before)).toBe(21);
    expect(await jsonOf(await rig.post('/local/v1/embeddings', asked))).toMatchObject({ data: EMBEDDED });
  });

  it.each([
    ['through the gateway', () => `${rig.gw.url}/v1`],
    ['at the fake itself', () => `${rig.chat.url}/v1`],
  ])('are what the client library takes for them: %s', async (_, baseURL) => {
    const client = new OpenAI({ apiKey: CHAT_KEY, baseURL: baseURL(), maxRetries: 0 });
    expect((await client.embeddings.create(asked)).data).toEqual(EMBEDDED);
  });

  it('are refused by a provider of messages, and passed over among fallbacks', async () => {
    const refused = await rig.post('/messages/v1/embeddings', asked);
    expect(refused.status).toBe(400);
    expect(await jsonOf(refused)).toMatchObject({
      code: 'embeddings_not_supported_for_provider',
      error: { code: 'embeddings_not_supported_for_provider', param: 'model' },
    });
    expect((await rig.post('/fallback/v1/embeddings', asked)).status).toBe(200);
  });

  it.each([
    [{ input: 'x' }, 400, 'model_required'],
    [{ ...asked, stream: true }, 400, 'invalid_request'],
    [{ model: 'm' }, 400, undefined],
    [{ ...asked, model: 'garbage' }, 502, undefined],
    [{ ...asked, model: 'status-500' }, 502, undefined],
  ])('that are not valid, or whose provider fails, are no embeddings: %j', async (body, status, code) => {
    const response = await rig.post('/v1/embeddings', body);
    expect(response.status).toBe(status);
    expect((await jsonOf(response))['code']).toBe(code);
  });
});
