/** The providers' own clients: through ai-proxy, and directly to the fakes, which are so checked by them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Reasoning, ReasoningEffort } from 'openai/resources';
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import type {
  FunctionTool,
  ResponseFunctionToolCall,
  ResponseInput,
  ResponseOutputItem,
} from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { MESSAGES_KEY, startMessagesProvider } from '../../../../test/ai/messages-provider.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';

let chat: FakeProvider;
let messages: FakeProvider;
let gw: Gateway;

/** By who answers their requests in the end. */
const clients: Record<string, OpenAI> = {};

beforeAll(async () => {
  [chat, messages] = await Promise.all([startChatProvider(), startMessagesProvider()]);
  const operation = (config: object) => ({
    responses: { default: { description: 'any' } },
    requestBody: { content: { 'application/json': { schema: {} } } },
    'x-gw-dispatch': { name: 'ai-proxy', config },
  });
  const onChat = { provider: 'provider_chat', api_key: 'env://CHAT_KEY', base_url: chat.url };
  const onMessages = {
    provider: 'provider_messages',
    api_key: 'env://MESSAGES_KEY',
    base_url: messages.url,
    max_tokens: 100,
    targets: { chat: onChat },
  };
  const surfaces = (prefix: string, config: object) => ({
    [`${prefix}/v1/chat/completions`]: { post: operation(config) },
    [`${prefix}/v1/responses`]: { post: operation(config) },
    [`${prefix}/v1/models`]: { get: operation(config) },
  });
  const paths = { ...surfaces('/chat', onChat), ...surfaces('/messages', onMessages) };
  const document = { openapi: '3.1.0', info: { title: 'models', version: '1' }, paths };
  gw = await startGateway(await compileSpec(document, ['ai-proxy']), { env: { CHAT_KEY, MESSAGES_KEY } });
  const client = (baseURL: string, apiKey: string) => new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  clients['the fake itself'] = client(`${chat.url}/v1`, CHAT_KEY);
  clients['a chat provider'] = client(`${gw.url}/chat/v1`, 'of-the-client');
  clients['a messages provider'] = client(`${gw.url}/messages/v1`, 'of-the-client');
});
afterAll(async () => {
  const code = await gw.stop();
  await Promise.all([chat, messages].map((each) => each.close()));
  expect(code).toBe(0);
});

const TEXT = 'Guten Tag, schöne Welt';
const PICTURE = 'data:image/png;base64,aGk=';
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const said: ChatCompletionMessageParam = { role: 'user', content: TEXT };
const chatTools: ChatCompletionTool[] = ['weather', 'time'].map((name) => ({
  type: 'function',
  function: { name, parameters },
}));
const responseTools: FunctionTool[] = ['weather', 'time'].map((name) => ({
  type: 'function',
  name,
  parameters,
  strict: false,
}));

describe.each(['the fake itself', 'a chat provider', 'a messages provider'])('the client openai, by %s', (by) => {
  const client = () => clients[by] as OpenAI;

  it('chats', async () => {
    const { choices, usage } = await client().chat.completions.create({ model: 'm', messages: [said] });
    expect(choices[0]?.message.content).toBe(TEXT);
    expect(choices[0]?.finish_reason).toBe('stop');
    expect(usage).toMatchObject({ completion_tokens: 8, prompt_tokens_details: { cached_tokens: 16 } });
  });

  it('streams', async () => {
    const stream = client().chat.completions.stream({
      model: 'm',
      messages: [said],
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]?.message.content).toBe(TEXT);
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(5);
  });

  it.each([false, true])('calls tools over turns, stream %s', async (streams) => {
    const turns: ChatCompletionMessageParam[] = [said];
    const ask = async () => {
      const asked = { model: 'm', messages: turns, tools: chatTools };
      const { choices } = streams
        ? await client().chat.completions.stream(asked).finalChatCompletion()
        : await client().chat.completions.create(asked);
      return choices[0];
    };
    const called = await ask();
    expect(called?.finish_reason).toBe('tool_calls');
    const calls = called?.message.tool_calls?.filter((each) => each.type === 'function') ?? [];
    expect(calls.map(({ function: { name, arguments: text } }) => [name, JSON.parse(text)])).toEqual([
      ['weather', { city: 'Köln 0' }],
      ['time', { city: 'Köln 1' }],
    ]);
    turns.push({ role: 'assistant', content: null, tool_calls: calls });
    for (const { id } of calls) turns.push({ role: 'tool', tool_call_id: id, content: `of ${id}` });
    const answered = await ask();
    expect(answered?.message.content).toContain(`of ${calls[1]?.id}`);
    expect(answered?.finish_reason).toBe('stop');
  });

  it('shows pictures', async () => {
    const content = [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image_url' as const, image_url: { url: PICTURE } },
    ];
    const { choices } = await client().chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] });
    expect(choices[0]?.message.content).toMatch(/^What is it\?\[image/);
  });

  it('gets answers in the form of a schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false };
    const completion = await client().chat.completions.parse({
      model: 'm',
      messages: [{ role: 'user', content: '{"city":"Köln"}' }],
      response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true, schema } },
    });
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ city: 'Köln' });
  });

  it('gets errors', async () => {
    const asking = client().chat.completions.create({ model: 'status-429', messages: [said] });
    await expect(asking).rejects.toThrow(OpenAI.RateLimitError);
    await expect(asking).rejects.toMatchObject({ status: 429, message: '429 planted' });
    const streaming = client().chat.completions.create({ model: 'status-400', messages: [said], stream: true });
    await expect(streaming).rejects.toThrow(OpenAI.BadRequestError);
  });

  it('lists models', async () => {
    const models = [];
    for await (const model of client().models.list()) models.push(model.id);
    expect(models).toContain('shared');
  });

  it('gets responses', async () => {
    const response = await client().responses.create({ model: 'm', input: TEXT, store: false });
    expect(response.output_text).toBe(TEXT);
    expect(response.usage?.output_tokens_details.reasoning_tokens).toBe(5);
  });

  it('streams responses', async () => {
    let text = '';
    const stream = client()
      .responses.stream({ model: 'm', input: [{ role: 'user', content: TEXT }] })
      .on('response.output_text.delta', ({ delta }) => {
        text += delta;
      });
    const response = await stream.finalResponse();
    expect([text, response.output_text]).toEqual([TEXT, TEXT]);
  });

  it.each([false, true])('calls tools of responses over turns, stream %s', async (streams) => {
    const input: ResponseInput = [{ role: 'user', content: TEXT }];
    const ask = (): Promise<{ readonly output: readonly ResponseOutputItem[]; readonly output_text: string }> => {
      const asked = { model: 'm', input, tools: responseTools, store: false };
      return streams ? client().responses.stream(asked).finalResponse() : client().responses.create(asked);
    };
    const called = await ask();
    const calls = called.output.filter((each): each is ResponseFunctionToolCall => each.type === 'function_call');
    expect(calls.map(({ name, arguments: text }) => [name, JSON.parse(text)])).toEqual([
      ['weather', { city: 'Köln 0' }],
      ['time', { city: 'Köln 1' }],
    ]);
    input.push(...calls);
    for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: `of ${call_id}` });
    expect((await ask()).output_text).toContain(`of ${calls[1]?.call_id}`);
  });
});

describe.each(['a chat provider', 'a messages provider'])('the client openai, by %s', (by) => {
  const client = () => clients[by] as OpenAI;

  it('gets refusals of the gateway', async () => {
    const asking = client().chat.completions.create({ model: '', messages: [said] });
    await expect(asking).rejects.toMatchObject({ status: 400, code: 'model_required', param: 'model' });
    const stateful = client().responses.create({ model: 'm', input: TEXT, previous_response_id: 'resp_1' });
    await expect(stateful).rejects.toMatchObject({ status: 400, code: 'previous_response_id_not_supported' });
  });

  it('gets an error where a stream breaks off', async () => {
    const reading = async () => {
      const stream = await client().chat.completions.create({ model: 'half', messages: [said], stream: true });
      for await (const _ of stream);
    };
    await expect(reading()).rejects.toMatchObject({ code: 'upstream_failed' });
    const responding = async () => {
      const stream = await client().responses.create({ model: 'half', input: TEXT, stream: true });
      for await (const _ of stream);
    };
    await expect(responding()).rejects.toMatchObject({ code: 'upstream_failed' });
  });
});

describe('the client openai, by a messages provider that thinks by a budget', () => {
  const client = () => clients['a messages provider'] as OpenAI;
  const asked = (effort: ReasoningEffort, more: object = {}) => ({
    model: 'claude-sonnet-4-5',
    messages: [said],
    max_completion_tokens: 4000,
    reasoning_effort: effort,
    ...more,
  });
  const sent = () => messages.seen.at(-1)?.body ?? {};

  it.each<[ReasoningEffort, object, object | undefined]>([
    ['none', {}, undefined],
    ['minimal', {}, undefined],
    ['low', {}, { type: 'enabled', budget_tokens: 1024 }],
    ['medium', {}, { type: 'enabled', budget_tokens: 2000 }],
    ['high', { temperature: 0.5, top_p: 0.5 }, { type: 'enabled', budget_tokens: 3200 }],
    ['xhigh', {}, { type: 'enabled', budget_tokens: 3800 }],
    ['high', { max_completion_tokens: 1024 }, undefined],
    ['low', { max_completion_tokens: 1025 }, { type: 'enabled', budget_tokens: 1024 }],
    ['high', { tools: chatTools, tool_choice: 'required' }, undefined],
    ['high', { tools: chatTools, tool_choice: 'auto' }, { type: 'enabled', budget_tokens: 3200 }],
    [null, {}, undefined],
  ])('has a budget of the effort %s, %j', async (effort, more, thinking) => {
    await client().chat.completions.create(asked(effort, more));
    expect(sent()['thinking']).toEqual(thinking);
  });

  it('calls tools over turns, which go on without thinking', async () => {
    const turns: ChatCompletionMessageParam[] = [said];
    const { choices } = await client().chat.completions.create(asked('high', { messages: turns, tools: chatTools }));
    const message = choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    expect([message?.content, calls.length]).toEqual([null, 2]);
    turns.push({ role: 'assistant', content: null, tool_calls: calls });
    for (const { id } of calls) turns.push({ role: 'tool', tool_call_id: id, content: `of ${id}` });
    const answered = await client().chat.completions.create(asked('high', { messages: turns, tools: chatTools }));
    expect(answered.choices[0]?.message.content).toContain('of toolu_1');
    expect(sent()['thinking']).toBeUndefined();
  });

  it('refuses an effort that there is not', async () => {
    const asking = client().chat.completions.create({ ...asked('low'), ...JSON.parse('{"reasoning_effort":"vast"}') });
    await expect(asking).rejects.toMatchObject({ status: 400, code: 'invalid_request', param: 'reasoning_effort' });
  });

  it.each([false, true])('shows a summary of it in responses where it is asked for one, stream %s', async (streams) => {
    const ask = async (reasoning: Reasoning) => {
      const model = 'claude-sonnet-4-5';
      const request = { model, input: TEXT, store: false, max_output_tokens: 4000, reasoning };
      if (!streams) return client().responses.create(request);
      let summary = '';
      const stream = client()
        .responses.stream(request)
        .on('response.reasoning_summary_text.delta', ({ delta }) => {
          summary += delta;
        });
      const response = await stream.finalResponse();
      expect(summary).toBe(reasoning.summary ? `hm, ${TEXT}` : '');
      return response;
    };
    const shown = await ask({ effort: 'medium', summary: 'auto' });
    expect(shown.output).toMatchObject([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: `hm, ${TEXT}` }] },
      { type: 'message' },
    ]);
    expect(shown.output_text).toBe(TEXT);
    expect(sent()['thinking']).toEqual({ type: 'enabled', budget_tokens: 2000, display: 'summarized' });
    const hidden = await ask({ effort: 'medium' });
    expect(hidden.output).toMatchObject([{ type: 'message', content: [{ text: TEXT }] }]);
  });
});

describe('the fake of a messages provider, by the client of Anthropic', () => {
  const client = () => new Anthropic({ baseURL: messages.url, apiKey: MESSAGES_KEY, maxRetries: 0 });
  const asked = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: TEXT }] };
  const tools = ['weather', 'time'].map((name) => ({
    name,
    input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
  }));

  it('answers, whole and in a stream', async () => {
    const message = await client().messages.create(asked);
    expect(message.content).toMatchObject([{ type: 'text', text: TEXT }]);
    const streamed = await client().messages.stream(asked).finalMessage();
    expect(streamed.content).toMatchObject([{ type: 'text', text: TEXT }]);
    expect(streamed.usage).toMatchObject({ cache_read_input_tokens: 16, output_tokens: 8 });
  });

  it('calls tools, whole and in a stream, and gets their results', async () => {
    const message = await client().messages.create({ ...asked, tools });
    expect(message.stop_reason).toBe('tool_use');
    const streamed = await client()
      .messages.stream({ ...asked, tools })
      .finalMessage();
    const calls = streamed.content.filter((each) => each.type === 'tool_use');
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ['weather', { city: 'Köln 0' }],
      ['time', { city: 'Köln 1' }],
    ]);
    const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: `of ${id}` }));
    const turns = [
      ...asked.messages,
      { role: 'assistant' as const, content: streamed.content },
      { role: 'user' as const, content: results },
    ];
    const answered = await client().messages.create({ ...asked, tools, messages: turns });
    expect(answered.content).toMatchObject([{ type: 'text', text: 'of toolu_0of toolu_1' }]);
  });

  it('refuses, and lists models', async () => {
    await expect(client().messages.create({ ...asked, messages: [] })).rejects.toThrow(Anthropic.BadRequestError);
    const failing = client()
      .messages.stream({ ...asked, model: 'overloaded-later' })
      .finalMessage();
    await expect(failing).rejects.toThrow('Overloaded');
    const models = [];
    for await (const { id } of client().models.list()) models.push(id);
    expect(models).toEqual(['claude-4', 'shared']);
  });
});

/** A project of the examples in the README, with the fakes in place of the providers. */
async function readmeProject(): Promise<Uint8Array> {
  const readme = readFileSync(join(import.meta.dirname, '../plugins/ai-proxy/README.md'), 'utf8');
  const examples = [...readme.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = '']) => Object(parse(yaml)).paths);
  const paths = JSON.parse(
    JSON.stringify(Object.assign({}, ...examples))
      .replaceAll('"provider":"provider_chat"', `"provider":"provider_chat","base_url":"${chat.url}"`)
      .replaceAll('"provider":"provider_local"', `"provider":"provider_local","base_url":"${chat.url}"`)
      .replaceAll('"provider":"provider_messages"', `"provider":"provider_messages","base_url":"${messages.url}"`),
  );
  const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } };
  const document = { openapi: '3.1.0', info: { title: 'readme', version: '1' }, components, paths };
  return compileSpec(document, ['ai-proxy', 'apikey-auth']);
}

it('the examples of the README answer the requests that stand below them', async () => {
  const env = {
    ...{ OPENAI_API_KEY: CHAT_KEY, ANTHROPIC_API_KEY: MESSAGES_KEY, SPARE_API_KEY: CHAT_KEY },
    ...{ SHOP_KEY: 'shop-key', FILE_IDS_KEY: '0123456789abcdef0123456789abcdef' },
  };
  const shown = await startGateway(await readmeProject(), { env });
  try {
    const client = new OpenAI({ baseURL: `${shown.url}/v1`, apiKey: 'of-the-client', maxRetries: 0 });
    const asked = { model: 'claude-sonnet-4-5', messages: [{ role: 'user' as const, content: 'Hello' }] };
    expect((await client.chat.completions.create(asked)).choices[0]?.message.content).toBe('Hello');
    expect(messages.seen.at(-1)?.body['max_tokens']).toBe(4096);
    const response = await client.responses.create({ model: 'claude-sonnet-4-5', input: 'Hello', store: false });
    expect(response.output_text).toBe('Hello');
    const denied = client.chat.completions.create({ ...asked, model: 'gpt-5-preview' });
    await expect(denied).rejects.toMatchObject({ status: 403, code: 'model_not_permitted' });
    const { files } = client.withOptions({ defaultHeaders: { 'X-API-Key': 'shop-key' } });
    const { id } = await files.create({ file: new File(['{}'], 'lines.jsonl'), purpose: 'batch' });
    expect(await (await files.content(id)).text()).toBe('{}');
  } finally {
    await shown.stop();
  }
});
