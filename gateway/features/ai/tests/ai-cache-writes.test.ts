/** What a provider writes to its cache, and what that costs, by each protocol, passed and translated. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventsOf,
  type ScriptedProvider,
  startScriptedProvider,
  typedEventsOf,
} from '../../../../test/ai/scripted-provider.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import { operation, post, startCached } from './ai-cached-project.ts';

let provider: ScriptedProvider;
let gw: Gateway;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const on = (name: string) => ({ provider: name, base_url: provider.url, max_tokens: 9 });
  const each = { prompt: 1, completion: 0, cached: 0.1, cache_write: 1.25, cache_write_1h: 2 };
  const priced = [{ name: 'ai-cost-tracker', config: { price_unit: 1, prices: { '*/*': each } } }];
  gw = await startCached({
    '/v1/messages': operation(on('provider_messages'), priced),
    '/messages/v1/chat/completions': operation(on('provider_messages'), priced),
    '/v1/chat/completions': operation(on('provider_chat'), priced),
    '/v1/responses': operation(on('provider_chat'), priced),
    '/chat/v1/messages': operation(on('provider_chat'), priced),
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await provider.close();
});

const native = {
  ...{ input_tokens: 100, cache_creation_input_tokens: 60, cache_read_input_tokens: 50, output_tokens: 1 },
  cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 20 },
};
const NATIVE = 100 + 50 * 0.1 + 40 * 1.25 + 20 * 2;
const details = { cached_tokens: 50, cache_write_tokens: 60 };
const chat = { prompt_tokens: 210, completion_tokens: 1, prompt_tokens_details: details };
const CHAT = 100 + 50 * 0.1 + 60 * 1.25;

const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] };
const head = { id: 'c', object: 'chat.completion', created: 1, model: 'm' };
const choice = { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' };
const response = {
  ...{ id: 'r', object: 'response', status: 'completed', output: [], model: 'm' },
  usage: { input_tokens: 210, output_tokens: 1, input_tokens_details: details },
};
const MESSAGES = [
  JSON.stringify({ ...message, stop_reason: 'end_turn', usage: native }),
  typedEventsOf(
    { type: 'message_start', message: { ...message, usage: { ...native, output_tokens: 0 } } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ),
];
const COMPLETIONS = [
  JSON.stringify({ ...head, choices: [choice], usage: chat }),
  eventsOf(
    { ...head, choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] },
    { ...head, choices: [], usage: chat },
    '[DONE]',
  ),
];
const RESPONSES = [
  JSON.stringify(response),
  typedEventsOf(
    { type: 'response.created', response: { ...response, usage: null } },
    { type: 'response.completed', response },
  ),
];

describe('what is written to a cache', () => {
  it.each(
    [
      ['/v1/messages', MESSAGES, NATIVE] as const,
      ['/messages/v1/chat/completions', MESSAGES, NATIVE] as const,
      ['/v1/chat/completions', COMPLETIONS, CHAT] as const,
      ['/v1/responses', RESPONSES, CHAT] as const,
      ['/chat/v1/messages', COMPLETIONS, CHAT] as const,
    ].flatMap(([path, bodies, cost]) => bodies.map((body, i) => [path, i === 1, body, cost] as const)),
  )('costs what it costs: %s, stream %s', async (path, stream, body, cost) => {
    const labels = { provider: body.includes('cache_creation') ? 'provider_messages' : 'provider_chat', model: '*/*' };
    const name = 'gw_plugin_ai_cost_tracker_cost_usd_total';
    const spent = async () => (await scrape(gw.admin)).value(name, { ...labels, consumer: '' }) || 0;
    const before = await spent();
    const model = `${path} ${stream}`;
    provider.answers(model, { body });
    const asked = { model, max_tokens: 9, input: 'x', messages: [{ role: 'user', content: 'x' }], stream };
    const { status, text } = await post(gw, path, asked, { key: null });
    expect(status).toBe(200);
    await expect.poll(async () => Math.round(((await spent()) - before) * 100) / 100).toBe(cost);
    if (path !== '/chat/v1/messages') return;
    expect(text).toContain('"cache_creation_input_tokens":60');
    expect(text).toContain('"input_tokens":100');
  });
});
