/** Names for models that the config gives: what they stand for, what fails over, and where they are listed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { MESSAGES_KEY, startMessagesProvider } from '../../../../test/ai/messages-provider.ts';
import { fixture } from '../../../../test/serve/fixture-plugin.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { ASKED, dataOf, last } from './ai-gateway.ts';

let gw: Gateway;
let chat: FakeProvider;
let messages: FakeProvider;
let spare: FakeProvider;

beforeAll(async () => {
  [chat, messages, spare] = await Promise.all([
    startChatProvider(CHAT_KEY, 'chat'),
    startMessagesProvider(),
    startChatProvider(CHAT_KEY, 'spare'),
  ]);
  const onChat = { provider: 'provider_chat', api_key: 'env://CHAT_KEY', base_url: chat.url };
  const onMessages = { provider: 'provider_messages', api_key: 'env://MESSAGES_KEY', base_url: messages.url };
  const config = {
    max_tokens: 9,
    routes: [
      { pattern: 'gpt-*', ...onChat, deny: ['*-preview'] },
      { pattern: 'chat:*', ...onChat },
      { pattern: 'claude-*', ...onMessages },
    ],
    targets: { spare: { ...onChat, base_url: spare.url } },
    fallback: [{ ...onChat, base_url: spare.url }],
    aliases: {
      fast: { model: 'gpt-5-mini' },
      smart: { model: 'claude-5' },
      elsewhere: { model: 'gpt-5', target: 'spare' },
      preview: { model: 'gpt-5-preview' },
      lost: { model: 'llama' },
      'gpt-4o': { model: 'gpt-5' },
      down: { model: 'chat:status-503' },
      virtual: {
        model: 'chat:status-503',
        fallback: [
          { model: 'llama' },
          { model: 'gpt-5-preview' },
          { model: 'claude-5' },
          { model: 'gpt-5', target: 'spare' },
        ],
      },
    },
  };
  const operation = (of: object, before: readonly object[] = []) => ({
    responses: { default: { description: 'any' } },
    requestBody: { content: { 'application/json': { schema: {} } } },
    'x-gw-middlewares': before,
    'x-gw-dispatch': { name: 'ai-proxy', config: of },
  });
  const tells = { name: 'context-teller', config: { key: 'ai.model' } };
  const chooses = { name: 'cel', config: { expression: 'true', on_match: { set_context: { 'ai.target': 'spare' } } } };
  const priced = {
    name: 'ai-cost-tracker',
    config: {
      policy_name: crypto.randomUUID(),
      default_profile: 'one',
      profiles: { one: { budgets: [{ period: 'year', limit_usd: 9, partition_key: 'all' }] } },
      prices: { '*/fast': { prompt: 1, completion: 1 } },
    },
  };
  const paths = {
    '/chat': { post: operation(config) },
    '/tells': { post: operation(config, [tells]) },
    '/chosen': { post: operation(config, [chooses]) },
    '/priced': { post: operation(config, [priced]) },
    '/v1/responses': { post: operation(config) },
    '/v1/messages': { post: operation(config) },
    '/v1/embeddings': { post: operation(config) },
    '/v1/models': { get: operation(config) },
  };
  const document = { openapi: '3.1.0', info: { title: 'models', version: '1' }, paths };
  const plugins = ['ai-proxy', 'cel', 'ai-cost-tracker'];
  gw = await startGateway(await compileSpec(document, plugins, [fixture('context-teller')]), {
    env: { CHAT_KEY, MESSAGES_KEY },
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await Promise.all([chat, messages, spare].map((each) => each.close()));
});

const post = (path: string, body: object) =>
  fetch(`${gw.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...ASKED, ...body }),
  });

describe('an alias', () => {
  it.each([
    ['fast', 'gpt-5-mini', () => chat],
    ['smart', 'claude-5', () => messages],
    ['elsewhere', 'gpt-5', () => spare],
    ['gpt-4o', 'gpt-5', () => chat],
  ] as const)('%s is %s, at its target', async (model, name, provider) => {
    for (const stream of [false, true]) {
      const response = await post('/chat', { model, stream, top_p: 1 });
      expect(response.status).toBe(200);
      const text = await response.text();
      const answer = JSON.parse(stream ? (dataOf(text)[0] ?? '') : text);
      expect(answer.model).toContain(name);
      expect(last(provider())?.body).toMatchObject({ model: name });
    }
  });

  it.each([
    ['/v1/responses', { input: 'Hello' }, 'gpt-5-mini'],
    ['/v1/messages', { max_tokens: 5 }, 'gpt-5-mini'],
    ['/v1/embeddings', { input: 'Hello' }, 'gpt-5-mini'],
  ])('is a model on each surface: %s', async (path, body, name) => {
    expect((await post(path, { model: 'fast', ...body })).status).toBe(200);
    expect(last(chat)?.body['model']).toBe(name);
  });

  it.each([
    ['preview', 403, 'model_not_permitted', '"preview"'],
    ['lost', 400, 'no_route', '"lost"'],
    ['constructor', 400, 'no_route', '"constructor"'],
  ])('%s is refused where what it stands for is: %d', async (model, status, code, named) => {
    const response = await post('/chat', { model });
    expect([response.status, await jsonOf(response)]).toMatchObject([
      status,
      { code, detail: expect.stringContaining(named) },
    ]);
  });

  it('goes where a policy has it go', async () => {
    expect((await post('/chosen', { model: 'fast' })).status).toBe(200);
    expect(last(spare)?.body['model']).toBe('gpt-5-mini');
  });

  it('falls back with the same model, or with those that it names and that are permitted', async () => {
    expect((await post('/chat', { model: 'down' })).status).toBe(200);
    expect(last(spare)?.body['model']).toBe('chat:status-503');
    const before = spare.seen.length;
    expect((await post('/chat', { model: 'virtual' })).status).toBe(200);
    expect([last(messages)?.body['model'], spare.seen.length]).toEqual(['claude-5', before]);
  });

  it('is what policies know: context and prices', async () => {
    expect((await post('/tells', { model: 'fast' })).headers.get('x-context')).toBe('fast');
    expect((await post('/priced', { model: 'fast' })).status).toBe(200);
    const refused = await post('/priced', { model: 'gpt-5-mini' });
    expect([refused.status, await jsonOf(refused)]).toMatchObject([403, { code: 'model_not_priced' }]);
  });

  it('is listed where it is permitted', async () => {
    const { data } = await jsonOf<{ data: { id: string; owned_by: string }[] }>(await fetch(`${gw.url}/v1/models`));
    const own = data.filter((each) => each.owned_by === 'gw').map(({ id }) => id);
    expect(own).toEqual(['down', 'elsewhere', 'fast', 'gpt-4o', 'smart', 'virtual']);
    expect(data.filter(({ id }) => id === 'gpt-4o')).toHaveLength(1);
  });
});
