/** ai-response-guard in front of ai-proxy, through a real `gw serve`: the same for answers that are whole and that stream. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { MESSAGES_KEY, startMessagesProvider } from '../../../../test/ai/messages-provider.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';

let gw: Gateway;
let chat: FakeProvider;
let messages: FakeProvider;

const guard = {
  name: 'ai-response-guard',
  config: {
    default_profile: 'all',
    profiles: {
      all: {
        pii: { email: 'redact', phone: 'redact', card: 'mask', iban: 'redact', api_key: 'hash' },
        blocked_patterns: ['(?i:top[- ]secret)'],
      },
    },
    hash_key: 'env://HASH_KEY',
  },
};

beforeAll(async () => {
  [chat, messages] = await Promise.all([startChatProvider(), startMessagesProvider()]);
  const operation = (config: object, middlewares: readonly object[] = [guard]) => ({
    post: {
      responses: { default: { description: 'any' } },
      requestBody: { content: { 'application/json': { schema: {} } } },
      'x-gw-middlewares': middlewares,
      'x-gw-dispatch': { name: 'ai-proxy', config: { ...config, timeout: 2 } },
    },
  });
  const onChat = { provider: 'provider_chat', base_url: chat.url, api_key: 'env://CHAT_KEY' };
  const onMessages = {
    provider: 'provider_messages',
    base_url: messages.url,
    api_key: 'env://MESSAGES_KEY',
    max_tokens: 99,
  };
  const set = { 'x-api-key': MESSAGES_KEY, 'anthropic-version': '2023-06-01' };
  const credentials = { name: 'request-transformer', config: { headers: { set } } };
  const paths = {
    '/chat/v1/chat/completions': operation(onChat),
    '/chat/v1/responses': operation(onChat),
    '/messages/v1/chat/completions': operation(onMessages),
    '/messages/v1/responses': operation(onMessages),
    '/twice/v1/chat/completions': operation(onChat, [
      guard,
      { ...guard, config: { ...guard.config, profiles: { all: {} } } },
    ]),
    '/native/v1/messages': {
      post: {
        responses: { default: { description: 'any' } },
        requestBody: { content: { 'application/json': { schema: {} } } },
        'x-gw-middlewares': [guard, credentials],
        'x-gw-dispatch': { name: 'http-upstream', config: { url: messages.url, path: '/v1/messages' } },
      },
    },
  };
  const document = { openapi: '3.1.0', info: { title: 'models', version: '1' }, paths };
  gw = await startGateway(
    await compileSpec(document, ['ai-proxy', 'ai-response-guard', 'http-upstream', 'request-transformer']),
    {
      env: { CHAT_KEY, MESSAGES_KEY, HASH_KEY: 'a key of sixteen characters' },
    },
  );
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await Promise.all([chat.close(), messages.close()]);
});

const SAID =
  'Grüße! Write to ann@example.com or call +49 30 1234567, card 4111 1111 1111 1111 and DE89 3704 0044 0532 0130 00 bob@example.com';
const HEARD = 'Grüße! Write to [EMAIL] or call [PHONE], card **** **** **** 1111 and [IBAN] [EMAIL]';

const client = (provider: string) => new OpenAI({ apiKey: 'none', baseURL: `${gw.url}/${provider}/v1`, maxRetries: 0 });
const conversation = (content: string) => [{ role: 'user' as const, content }];

/** Models of the fakes: one that answers well, and one whose bytes arrive one by one. */
const MODELS = ['gpt-4o', 'byte-by-byte'];

describe.each(['chat', 'messages', 'twice'])('answers of a provider of %s', (provider) => {
  it('are rewritten where they are whole', async () => {
    const completion = await client(provider).chat.completions.create({
      model: 'gpt-4o',
      messages: conversation(SAID),
    });
    expect(completion.choices[0]?.message.content).toBe(HEARD);
  });

  it.each(MODELS)('are rewritten in a stream: %s', async (model) => {
    const stream = await client(provider).chat.completions.create({
      model,
      messages: conversation(SAID),
      stream: true,
    });
    let heard = '';
    let finish: string | null = null;
    for await (const { choices } of stream) {
      heard += choices[0]?.delta.content ?? '';
      finish = choices[0]?.finish_reason ?? finish;
    }
    expect([heard, finish]).toEqual([HEARD, 'stop']);
  });

  it('end with an error where they are blocked', async () => {
    const asked = { model: 'gpt-4o', messages: conversation('well, this is Top Secret and more') };
    await expect(client(provider).chat.completions.create(asked)).rejects.toMatchObject({
      status: 403,
      code: 'response_blocked',
    });
    const stream = await client(provider).chat.completions.create({ ...asked, stream: true });
    let heard = '';
    const read = async () => {
      for await (const { choices } of stream) heard += choices[0]?.delta.content ?? '';
    };
    await expect(read()).rejects.toMatchObject({ code: 'response_blocked' });
    expect(heard.startsWith('well, this is ')).toBe(true);
    expect(heard).not.toContain('Secret');
  });
});

it('summaries of what a model thinks are rewritten as well, in each event', async () => {
  const stream = client('messages').responses.stream({
    model: 'm',
    input: SAID,
    max_output_tokens: 2000,
    reasoning: { effort: 'low', summary: 'auto' },
  });
  let heard = '';
  for await (const event of stream) {
    if (event.type !== 'response.reasoning_summary_text.delta') continue;
    expect(event.summary_index).toBe(0);
    heard += event.delta;
  }
  expect(heard).toBe(`hm, ${HEARD}`);
  const { output } = await stream.finalResponse();
  expect(output[0]).toMatchObject({ type: 'reasoning', summary: [{ text: `hm, ${HEARD}` }] });
});

describe.each(['chat', 'messages'])('responses of a provider of %s', (provider) => {
  it('are rewritten, and so is each event of their stream', async () => {
    const { responses } = client(provider);
    expect((await responses.create({ model: 'gpt-4o', input: SAID, store: false })).output_text).toBe(HEARD);
    for (const model of MODELS) {
      const stream = await responses.create({ model, input: SAID, stream: true });
      const numbers: number[] = [];
      let [heard, done, last] = ['', '', ''];
      for await (const event of stream) {
        numbers.push(event.sequence_number);
        if (event.type === 'response.output_text.delta') heard += event.delta;
        if (event.type === 'response.output_text.done') done = event.text;
        if (event.type === 'response.completed') last = JSON.stringify(event.response.output);
      }
      expect([heard, done]).toEqual([HEARD, HEARD]);
      expect(last).toContain(HEARD);
      expect(last).not.toContain('ann@');
      expect(numbers).toEqual(numbers.map((_, i) => i));
    }
  });

  it('end with an error event where they are blocked', async () => {
    const stream = await client(provider).responses.create({ model: 'm', input: 'so Top Secret it is', stream: true });
    const types: string[] = [];
    const read = async () => {
      for await (const event of stream) types.push(event.type);
    };
    await expect(read()).rejects.toThrow('policy');
    expect(types).not.toContain('response.completed');
  });
});

describe('messages behind another dispatcher', () => {
  it('are rewritten as well, whole and in a stream', async () => {
    const anthropic = new Anthropic({ apiKey: 'none', baseURL: `${gw.url}/native`, maxRetries: 0 });
    const asked = { model: 'claude-4', max_tokens: 99, messages: conversation(SAID) };
    const { content } = await anthropic.messages.create(asked);
    expect(content).toMatchObject([{ type: 'text', text: HEARD }]);
    const streamed = await anthropic.messages.stream(asked).finalMessage();
    expect(streamed.content.filter(({ type }) => type === 'text')).toMatchObject([{ text: HEARD }]);
  });
});

it('counts what it finds, and logs nothing of it', async () => {
  const key = `sk-${'aB3'.repeat(8)}`;
  const completion = await client('chat').chat.completions.create({ model: 'm', messages: conversation(key) });
  expect(completion.choices[0]?.message.content).toMatch(/^\[API_KEY:[0-9a-f]{12}\]$/);
  const metrics = await scrape(gw.admin);
  const found = (kind: string, action: string) =>
    metrics.value('gw_plugin_ai_response_guard_findings_total', { kind, action });
  expect(found('api_key', 'hash')).toBe(1);
  expect(found('email', 'redact')).toBeGreaterThan(20);
  expect(found('pattern', 'block')).toBeGreaterThan(5);
  const log = JSON.stringify(gw.log);
  for (const secret of [key, 'ann@example.com', '4111 1111', 'a key of sixteen']) expect(log).not.toContain(secret);
});

it('lets what a provider leaves in the middle end as it would', async () => {
  const stream = await client('chat').chat.completions.create({
    model: 'half',
    messages: conversation(SAID),
    stream: true,
  });
  let heard = '';
  const read = async () => {
    for await (const { choices } of stream) heard += choices[0]?.delta.content ?? '';
  };
  await expect(read()).rejects.toMatchObject({ code: 'upstream_failed' });
  expect(HEARD.startsWith(heard.trimEnd().slice(0, 20))).toBe(true);
  expect(heard).not.toContain('ann@');
});

it('leaves a provider whose answer it has blocked', async () => {
  const messages = conversation('Top-Secret and more');
  const stream = await client('chat').chat.completions.create({ model: 'endless', messages, stream: true });
  const read = async () => {
    for await (const _ of stream);
  };
  await expect(read()).rejects.toMatchObject({ code: 'response_blocked' });
  // What is not read any more is not sent any more.
  let before = -1;
  const hasStopped = () => {
    const { bytes } = chat.endlessly;
    const same = bytes === before;
    before = bytes;
    return same;
  };
  await expect.poll(hasStopped).toBe(true);
});
