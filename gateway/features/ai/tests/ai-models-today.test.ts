/** Models that take what others of their protocol refuse, before fakes that refuse what their providers do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import {
  type CachedProviders,
  onChat,
  onMessages,
  operation,
  post,
  startCached,
  startProviders,
} from './ai-cached-project.ts';

let gw: Gateway;
let providers: CachedProviders;
beforeAll(async () => {
  providers = await startProviders();
  const [chat, messages] = [onChat(providers), onMessages(providers)];
  const own = {
    models: { 'house-*': { limit: 'max_tokens', efforts: [], thinking: 'budget', thinking_off: 'disabled' } },
  };
  gw = await startCached({
    '/chat/v1/chat/completions': operation({ ...chat, max_tokens: 4000 }, []),
    '/chat/v1/messages': operation(chat, []),
    '/messages/v1/chat/completions': operation({ ...messages, max_tokens: 4000 }, []),
    '/messages/v1/responses': operation({ ...messages, max_tokens: 4000 }, []),
    '/own/chat/v1/messages': operation({ ...chat, ...own, max_tokens: 9 }, []),
    '/own/messages/v1/chat/completions': operation({ ...messages, ...own, max_tokens: 4000 }, []),
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await providers.close();
});

const said = { role: 'user', content: 'Hello' };
const ask = (path: string, body: object) => post(gw, path, { messages: [said], ...body }, { key: null });
const sentTo = (provider: FakeProvider) => provider.seen.at(-1)?.body ?? {};
const tool = { name: 'f', input_schema: { type: 'object' } };
const chatTool = { type: 'function', function: { name: 'f' } };

describe('a limit of the config', () => {
  it.each(['gpt-5', 'gpt-5.6', 'gpt-6', 'o3', 'o4-mini', 'gpt-4o', 'of-tomorrow'])(
    'is one that %s takes',
    async (model) => {
      expect((await ask('/chat/v1/chat/completions', { model })).status).toBe(200);
      expect(sentTo(providers.chat)).toMatchObject({ max_completion_tokens: 4000 });
      expect((await ask('/chat/v1/messages', { model, max_tokens: 7 })).status).toBe(200);
      expect(sentTo(providers.chat)).toMatchObject({ max_completion_tokens: 7 });
    },
  );

  it('has another name for models that know that one only', async () => {
    await ask('/chat/v1/chat/completions', { model: 'mistral-large-latest' });
    expect(sentTo(providers.chat)).toMatchObject({ max_tokens: 4000 });
  });
});

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const CLAUDES = [
  ...[
    'claude-opus-5-5',
    'claude-sonnet-5-5',
    'claude-haiku-5-5',
    'claude-fable-5',
    'claude-fable-5-1',
    'claude-opus-5',
  ],
  ...['claude-sonnet-5', 'claude-opus-4-8', 'claude-opus-4-7', 'claude-opus-4-6', 'claude-sonnet-4-6'],
  ...['claude-sonnet-4-5', 'claude-opus-4-1-20250805', 'claude-3-5-haiku-latest', 'of-tomorrow'],
];
const GPTS = ['gpt-5', 'gpt-5.1', 'gpt-5.5', 'gpt-5.6', 'gpt-6', 'o3', 'gpt-4o', 'of-tomorrow'];

describe('whatever a client says of thinking', () => {
  it.each(CLAUDES)('%s takes it, with and without tools, by completions and responses', async (model) => {
    for (const effort of EFFORTS) {
      for (const tools of [{}, { tools: [chatTool], parallel_tool_calls: false }]) {
        const sampled = { model, reasoning_effort: effort, temperature: 0.5, top_p: 0.9, ...tools };
        const { status, text } = await ask('/messages/v1/chat/completions', sampled);
        expect([effort, status, text]).toEqual([effort, 200, text]);
      }
      const reasoning = { effort, summary: 'auto' };
      expect((await ask('/messages/v1/responses', { model, input: 'Hello', reasoning })).status).toBe(200);
    }
  });

  it.each(GPTS)('%s takes it, with and without tools, by messages', async (model) => {
    const told = [
      ...EFFORTS.slice(2).map((effort) => ({ output_config: { effort } })),
      ...[1024, 3000, 3999].map((budget_tokens) => ({ thinking: { type: 'enabled', budget_tokens } })),
      ...['adaptive', 'disabled', 'between_tools'].map((type) => ({ thinking: { type } })),
    ];
    for (const more of told) {
      for (const tools of [{}, { tools: [tool] }]) {
        const { status, text } = await ask('/chat/v1/messages', { model, max_tokens: 4000, ...more, ...tools });
        expect([more, status, text]).toEqual([more, 200, text]);
      }
    }
  });
});

describe('an effort', () => {
  it.each([
    ['claude-opus-4-7', 'high', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    ['claude-opus-5', 'max', { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }],
    ['claude-opus-4-6', 'xhigh', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    ['claude-opus-5-5', 'minimal', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
    ['claude-opus-5-5', 'none', { output_config: { effort: 'low' } }],
    ['claude-sonnet-5-5', 'none', { thinking: { type: 'between_tools' } }],
    ['claude-opus-5', 'none', { thinking: { type: 'disabled' } }],
    ['claude-opus-4-8', 'none', {}],
    ['claude-sonnet-4-5', 'none', {}],
    ['claude-sonnet-4-5', 'medium', { thinking: { type: 'enabled', budget_tokens: 2000 } }],
    ['claude-3-5-haiku-latest', 'high', {}],
    ['of-tomorrow', 'high', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
  ])('of completions to %s: %s', async (model, effort, written) => {
    await ask('/messages/v1/chat/completions', { model, reasoning_effort: effort });
    const { thinking, output_config } = sentTo(providers.messages);
    expect(JSON.parse(JSON.stringify({ thinking, output_config }))).toEqual(written);
  });

  it.each([
    ['gpt-5.5', { output_config: { effort: 'max' } }, 'xhigh'],
    ['gpt-5', { output_config: { effort: 'xhigh' } }, 'high'],
    ['gpt-6', { output_config: { effort: 'max' } }, 'max'],
    ['gpt-5.1', { thinking: { type: 'disabled' } }, 'none'],
    ['gpt-5', { thinking: { type: 'disabled' } }, undefined],
    ['gpt-5', { thinking: { type: 'adaptive' } }, undefined],
    ['gpt-5.6', { output_config: { effort: 'high' }, tools: [tool] }, 'none'],
    ['gpt-5.6', { tools: [tool] }, 'none'],
  ])('of messages to %s: %j is %s', async (model, more, effort) => {
    await ask('/chat/v1/messages', { model, max_tokens: 4000, ...more });
    expect(sentTo(providers.chat)['reasoning_effort']).toBe(effort);
  });

  it('that a model does not take is left out, and the client and the metrics are told', async () => {
    const name = 'gw_plugin_ai_proxy_effort_dropped_total';
    const before = (await scrape(gw.admin)).value(name, { provider: 'provider_chat' });
    for (const body of [
      { model: 'gpt-4o', output_config: { effort: 'high' } },
      { model: 'gpt-5.6', thinking: { type: 'enabled', budget_tokens: 2000 }, tools: [tool] },
    ]) {
      const { status, headers } = await ask('/chat/v1/messages', { max_tokens: 4000, ...body });
      expect([status, headers.get('warning')]).toEqual([200, expect.stringContaining('the effort was left out')]);
    }
    const without = await ask('/chat/v1/messages', { model: 'gpt-5', max_tokens: 9, output_config: { effort: 'low' } });
    expect(without.headers.get('warning')).toBeNull();
    expect((await scrape(gw.admin)).value(name, { provider: 'provider_chat' })).toBe(before + 2);
  });
});

it('cache_control reaches the provider that has it; elsewhere the client and the metrics are told', async () => {
  const name = 'gw_plugin_ai_proxy_cache_control_dropped_total';
  const before = (await scrape(gw.admin)).value(name, { provider: 'provider_chat' });
  const content = [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }];
  const more = { max_tokens: 100, messages: [{ role: 'user', content }] };
  const dropped = await ask('/chat/v1/messages', { model: 'gpt-5', ...more });
  expect([dropped.status, dropped.headers.get('warning')]).toEqual([
    200,
    expect.stringContaining('cache_control was left out'),
  ]);
  const passed = await ask('/messages/v1/chat/completions', { model: 'claude-opus-5', ...more });
  expect([passed.status, passed.headers.get('warning')]).toEqual([200, null]);
  expect(sentTo(providers.messages)).toMatchObject({ messages: [{ content }] });
  expect((await scrape(gw.admin)).value(name, { provider: 'provider_chat' })).toBe(before + 1);
});

it('a call that is forced is refused where the model refuses it, and passes elsewhere', async () => {
  const forced = { tools: [chatTool], tool_choice: 'required', reasoning_effort: 'high' };
  const refused = await ask('/messages/v1/chat/completions', { model: 'claude-opus-5-5', ...forced });
  expect([refused.status, JSON.parse(refused.text).code]).toEqual([400, 'unsupported_for_provider']);
  for (const model of ['claude-opus-5', 'claude-opus-4-8', 'claude-sonnet-4-5', 'of-tomorrow']) {
    expect((await ask('/messages/v1/chat/completions', { model, ...forced })).status).toBe(200);
    expect(sentTo(providers.messages)).toMatchObject({ tool_choice: { type: 'any' } });
  }
});

it('a project says what models of its own take', async () => {
  await ask('/own/chat/v1/messages', { model: 'house-7', thinking: { type: 'enabled', budget_tokens: 2000 } });
  expect(sentTo(providers.chat)).toMatchObject({ max_tokens: 9 });
  expect(sentTo(providers.chat)).not.toHaveProperty('reasoning_effort');
  await ask('/own/messages/v1/chat/completions', { model: 'house-7', reasoning_effort: 'medium' });
  expect(sentTo(providers.messages)).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2000 } });
  await ask('/own/messages/v1/chat/completions', { model: 'house-7', reasoning_effort: 'none' });
  expect(sentTo(providers.messages)).toMatchObject({ thinking: { type: 'disabled' } });
});
