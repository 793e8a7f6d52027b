/** Clients of messages through ai-proxy and a real `gw serve`: the official library, unchanged but for its base address. */
import Anthropic, { APIError, BadRequestError } from '@anthropic-ai/sdk';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonOf } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import { type AiRig, last, startAi } from './ai-gateway.ts';

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

  it('have the features before their time that the description of the API lets through', async () => {
    for (const [path, passed] of [
      ['/beta', 'one-2026-01-01,two-2026-02-02'],
      ['', undefined],
    ] as const) {
      const own = new Anthropic({ apiKey: 'of-the-client', baseURL: rig.gw.url + path, maxRetries: 0 });
      await own.beta.messages.create({ ...asked, betas: ['one-2026-01-01', 'two-2026-02-02'] });
      expect(last(rig.messages)?.headers['anthropic-beta']).toBe(passed);
    }
  });

  it('have a limit of tokens where the client names none', async () => {
    const { max_tokens: _, ...unlimited } = asked;
    expect((await rig.post('/limited/v1/messages', unlimited)).status).toBe(200);
    expect(last(rig.messages)?.body['max_tokens']).toBe(9);
  });

  it('have errors of the provider as it says them', async () => {
    const refused: unknown = await client.messages
      .create({ ...asked, model: 'status-429' })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(APIError);
    expect(refused).toMatchObject({ status: 429, error: { type: 'error', error: { type: 'rate_limit_error' } } });
  });

  it.each([
    ['claude-4', { model: '' }, 400, 'invalid_request_error', 'model_required'],
    ['claude-4', { max_tokens: 'many' }, 400, 'invalid_request_error', 'invalid_request'],
    ['garbage', { stream: true }, 502, 'api_error', undefined],
  ])('are refused in the form of their protocol: %s, %j', async (model, more, status, type, code) => {
    const response = await rig.post('/v1/messages', { ...asked, model, ...more });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const body = await jsonOf(response);
    expect(body).toMatchObject({ type: 'error', status, error: { type, message: body['detail'] } });
    expect(body['code']).toBe(code);
  });

  it.each(['half', 'ends-early', 'huge'])('end with an error where a stream breaks off: %s', async (model) => {
    const stream = client.messages.stream({ ...asked, model });
    await expect(stream.finalMessage()).rejects.toThrow('before it was whole');
  });

  it.each(['garbage', 'cut', 'empty'])('are 502 where a stream never begins: %s', async (model) => {
    expect((await rig.post('/v1/messages', { ...asked, model, stream: true })).status).toBe(502);
  });
});

describe('messages by a provider of chat completions', () => {
  const chat = () => new Anthropic({ apiKey: 'of-the-client', baseURL: `${rig.gw.url}/chat`, maxRetries: 0 });
  const tools = ['weather', 'time'].map((name) => ({
    name,
    input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
  }));

  it('are translated, whole and in streams, and counted', async () => {
    const before = await scrape(rig.gw.admin);
    const message = await chat().messages.create({ ...asked, system: 'Be brief.' });
    expect(message).toMatchObject({ content: [{ text: 'Guten Tag, schöne Welt' }], stop_reason: 'end_turn' });
    expect(message.usage).toMatchObject({ input_tokens: 5, cache_read_input_tokens: 16, output_tokens: 8 });
    expect(last(rig.chat)?.body).toMatchObject({ max_completion_tokens: 99, messages: [{ role: 'system' }, {}] });
    for (const model of ['gpt-4o', 'byte-by-byte']) {
      const streamed = await chat()
        .messages.stream({ ...asked, model })
        .finalMessage();
      expect(streamed).toMatchObject({ content: [{ text: 'Guten Tag, schöne Welt' }], stop_reason: 'end_turn' });
      expect(streamed.usage).toMatchObject({ input_tokens: 5, cache_read_input_tokens: 16, output_tokens: 8 });
    }
    const counted = (metrics: typeof before) =>
      metrics.value('gw_plugin_ai_proxy_tokens_total', { provider: 'provider_chat', type: 'completion' }) ?? 0;
    await expect.poll(async () => counted(await scrape(rig.gw.admin)) - counted(before)).toBe(24);
  });

  it.each([false, true])('call tools over turns, stream %s', async (streams) => {
    const ask = (messages: MessageParam[]) => {
      const request = { ...asked, messages, tools };
      return streams ? chat().messages.stream(request).finalMessage() : chat().messages.create(request);
    };
    const called = await ask(asked.messages);
    expect(called.stop_reason).toBe('tool_use');
    const calls = called.content.filter((each) => each.type === 'tool_use');
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ['weather', { city: 'Köln 0' }],
      ['time', { city: 'Köln 1' }],
    ]);
    const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: `of ${id}` }));
    const turns = [...asked.messages, { role: 'assistant' as const, content: called.content }];
    const answered = await ask([...turns, { role: 'user', content: results }]);
    expect(answered.content).toMatchObject([{ type: 'text', text: `of ${calls[1]?.id}` }]);
  });

  it('show pictures', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'aGk=' };
    const content = [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image' as const, source },
    ];
    const message = await chat().messages.create({ ...asked, messages: [{ role: 'user', content }] });
    expect(message.content).toMatchObject([{ text: 'What is it?[image_url]' }]);
    expect(JSON.stringify(last(rig.chat)?.body)).toContain('data:image/png;base64,aGk=');
  });

  it.each([
    ['status-429', 429, 'rate_limit_error'],
    ['status-400', 400, 'invalid_request_error'],
  ])('have errors in the form of messages: %s', async (model, status, type) => {
    const refused: unknown = await chat()
      .messages.create({ ...asked, model })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(APIError);
    expect(refused).toMatchObject({ status, error: { type: 'error', error: { type, message: 'planted' } } });
  });

  it('are refused where a chat completion cannot say them', async () => {
    const refused: unknown = await chat()
      .messages.create({ ...asked, tools: [{ type: 'web_search_20250305', name: 'web_search' }] })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(refused).toMatchObject({ error: { code: 'unsupported_for_provider' } });
  });

  it.each(['half', 'ends-early', 'huge'])('end with an error where a stream breaks off: %s', async (model) => {
    const stream = chat().messages.stream({ ...asked, model });
    await expect(stream.finalMessage()).rejects.toThrow('before it was whole');
  });

  it.each(['garbage', 'cut', 'empty'])('are 502 where a stream never begins: %s', async (model) => {
    expect((await rig.post('/chat/v1/messages', { ...asked, model, stream: true })).status).toBe(502);
  });

  it('are a fallback of others', async () => {
    const text = await (await rig.post('/fallback/v1/messages', asked)).text();
    expect(JSON.parse(text)).toMatchObject({ type: 'message', id: 'chatcmpl-1' });
  });
});
