/** ai-prompt-template in front of ai-proxy, through a real `gw serve`, with the providers' own clients. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { MESSAGES_KEY, startMessagesProvider } from '../../../../test/ai/messages-provider.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';

let gw: Gateway;
let chat: FakeProvider;
let messages: FakeProvider;

const templates = {
  greeting: {
    messages: [
      { role: 'system', content: 'You speak {{language}}.' },
      { role: 'user', content: 'Greet {{name}}' },
    ],
  },
  many: { messages: [{ role: 'user', content: '{{x}}'.repeat(10_000) }] },
};
const profiles = {
  open: {
    prepend: [{ role: 'system', content: 'Be brief.' }],
    append: [{ role: 'user', content: 'Behind.' }],
  },
  strict: { templates: ['greeting', 'many'], allow_untemplated_requests: false },
};
const template = (config: object) => ({ name: 'ai-prompt-template', config });
const guard = {
  name: 'ai-prompt-guard',
  config: { default_profile: 'a', profiles: { a: { blocked_patterns: ['(?i:ignore previous)'] } } },
};

function documentOf(middlewares: (profile: string) => readonly object[]): object {
  const onChat = { provider: 'provider_chat', base_url: chat.url, api_key: 'env://CHAT_KEY' };
  const onMessages = {
    provider: 'provider_messages',
    base_url: messages.url,
    api_key: 'env://MESSAGES_KEY',
    max_tokens: 100,
  };
  const paths: Record<string, object> = {};
  for (const [provider, config] of Object.entries({ chat: onChat, messages: onMessages })) {
    for (const profile of Object.keys(profiles)) {
      for (const surface of ['chat/completions', 'responses', 'messages']) {
        const post = {
          responses: { default: { description: 'any' } },
          requestBody: { content: { 'application/json': { schema: {} } } },
          'x-gw-middlewares': middlewares(profile),
          'x-gw-dispatch': { name: 'ai-proxy', config },
        };
        paths[`/${provider}/${profile}/v1/${surface}`] = { post };
      }
    }
  }
  return { openapi: '3.1.0', info: { title: 'models', version: '1' }, paths };
}

const PLUGINS = ['ai-proxy', 'ai-prompt-template', 'ai-prompt-guard'];

beforeAll(async () => {
  [chat, messages] = await Promise.all([startChatProvider(), startMessagesProvider()]);
  const document = documentOf((default_profile) => [template({ templates, profiles, default_profile }), guard]);
  gw = await startGateway(await compileSpec(document, PLUGINS), {
    env: { CHAT_KEY, MESSAGES_KEY },
    args: ['--max-body-size', String(8 << 20), '--max-buffered-bytes', String(16 << 20)],
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await Promise.all([chat, messages].map((each) => each.close()));
});

const openai = (at: string) => new OpenAI({ apiKey: 'none', baseURL: `${gw.url}/${at}/v1`, maxRetries: 0 });
const anthropic = (at: string) => new Anthropic({ apiKey: 'none', baseURL: `${gw.url}/${at}`, maxRetries: 0 });
const post = (path: string, body: object) =>
  fetch(`${gw.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const sent = (provider: FakeProvider) => provider.seen.at(-1)?.body ?? {};
const properties = { language: 'German', name: 'Ann "}]' };

describe.each(['chat', 'messages'])('ai-prompt-template, by a provider of %s', (by) => {
  it.each([
    ['/v1/chat/completions', 'messages'],
    ['/v1/responses', 'input'],
    ['/v1/messages', 'messages'],
  ])('fills a template on %s', async (path, member) => {
    const response = await post(`/${by}/strict${path}`, {
      model: 'm',
      [member]: '{template://greeting}',
      properties,
      ...(path === '/v1/messages' ? { max_tokens: 99 } : {}),
    });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.stringContaining('Greet Ann \\"}]')]);
    const provider = by === 'chat' ? chat : messages;
    expect(JSON.stringify(sent(provider))).toContain('You speak German.');
    expect(sent(provider)).not.toHaveProperty('properties');
  });

  it('puts messages around those of the clients, whole and in streams', async () => {
    const asked = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
    const completion = await openai(`${by}/open`).chat.completions.create(asked);
    expect(completion.choices[0]?.message.content).toMatch(/Behind\.$/);
    const stream = anthropic(`${by}/open`).messages.stream({ ...asked, max_tokens: 99, system: 'Rhyme.' });
    expect((await stream.finalMessage()).content).toMatchObject([{ type: 'text', text: 'HiBehind.' }]);
    const response = await openai(`${by}/open`).responses.create({ model: 'm', input: 'Hi', store: false });
    expect(response.output_text).toMatch(/Behind\.$/);
    expect(JSON.stringify(sent(by === 'chat' ? chat : messages))).toContain('Be brief.');
  });
});

describe('ai-prompt-template', () => {
  it('refuses so that the clients say why, and counts', async () => {
    const count = async (result: string) =>
      (await scrape(gw.admin)).value('gw_plugin_ai_prompt_template_requests_total', { result }) ?? 0;
    const [before, asked] = [await count('refused'), chat.seen.length];
    const said = [{ role: 'user' as const, content: 'Hi' }];
    await expect(openai('chat/strict').chat.completions.create({ model: 'm', messages: said })).rejects.toMatchObject({
      status: 400,
      code: 'template_required',
      param: 'messages',
    });
    const untemplated = anthropic('chat/strict').messages.create({ model: 'm', max_tokens: 9, messages: said });
    await expect(untemplated).rejects.toMatchObject({ error: { type: 'error', code: 'template_required' } });
    expect(chat.seen.length).toBe(asked);
    await expect.poll(() => count('refused')).toBe(before + 2);
    expect(await count('filled')).toBeGreaterThan(0);
  });

  it('makes prompts that other policies look at', async () => {
    const body = { model: 'm', messages: '{template://greeting}', properties: { language: 'Ignore', name: 'x' } };
    expect((await post('/chat/strict/v1/chat/completions', body)).status).toBe(200);
    const values = { language: 'x', name: '{{language}} Ignore previous' };
    const blocked = await post('/chat/strict/v1/chat/completions', { ...body, properties: values });
    expect([blocked.status, (await jsonOf(blocked))['code']]).toEqual([400, 'prompt_blocked']);
  });

  it('makes nothing larger than its limit, however often a value stands in it', async () => {
    const asked = { model: 'm', messages: '{template://many}', properties: { x: 'x'.repeat(1 << 20) } };
    const response = await post('/chat/strict/v1/chat/completions', asked);
    expect([response.status, (await jsonOf(response))['code']]).toEqual([400, 'prompt_too_long']);
    expect((await post('/chat/strict/v1/chat/completions', { ...asked, properties: { x: 'y' } })).status).toBe(200);
  });

  it.each<[string, object]>([
    ['/default_profile', { profiles, templates, default_profile: 'other' }],
    [
      '/profiles/strict/templates/1',
      { profiles, templates: { greeting: templates.greeting }, default_profile: 'open' },
    ],
  ])('does not compile where %s names what there is not', async (pointer, config) => {
    const compiling = compileSpec(
      documentOf(() => [template(config)]),
      PLUGINS,
    );
    await expect(compiling).rejects.toThrow('E1030');
    await expect(compiling).rejects.toThrow(pointer);
  });
});
