/** Errors that a provider reports under status 200, and streams that end before their answer, on every surface. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventsOf,
  type ScriptedProvider,
  startScriptedProvider,
  typedEventsOf,
} from '../../../../test/ai/scripted-provider.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { operation, post, startCached } from './ai-cached-project.ts';

let bad: ScriptedProvider;
let good: ScriptedProvider;
let gw: Gateway;
beforeAll(async () => {
  [bad, good] = await Promise.all([startScriptedProvider(), startScriptedProvider()]);
  const on = (provider: string, { url }: ScriptedProvider) => ({ provider, base_url: url });
  const alone = (provider: string) => operation(on(provider, bad), []);
  const spared = (provider: string) => operation({ ...on(provider, bad), fallback: [on(provider, good)] }, []);
  gw = await startCached({
    '/v1/chat/completions': alone('provider_chat'),
    '/v1/responses': alone('provider_chat'),
    '/v1/embeddings': alone('provider_chat'),
    '/v1/messages': alone('provider_messages'),
    '/local/v1/messages': alone('provider_local'),
    '/messages/v1/chat/completions': alone('provider_messages'),
    '/spared/v1/chat/completions': spared('provider_chat'),
    '/spared/v1/responses': spared('provider_chat'),
    '/spared/v1/embeddings': spared('provider_chat'),
    '/spared/v1/messages': spared('provider_messages'),
    '/spared/local/v1/messages': spared('provider_local'),
    '/spared/messages/v1/chat/completions': spared('provider_messages'),
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await Promise.all([bad.close(), good.close()]);
});

const CHAT = '/v1/chat/completions';
const error = { error: { message: 'planted', type: 'server_error', param: null, code: null } };
const failed = { type: 'error', error: { type: 'overloaded_error', message: 'planted' } };
const choice = { index: 0, message: { role: 'assistant', content: 'well' }, finish_reason: 'stop' };
const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] };
const chunk = (delta: object, finish: string | null = null, index = 0) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index, delta, finish_reason: finish }],
});
const message = {
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_sequence: null },
  ...{
    content: [{ type: 'text', text: 'well' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};
const response = { id: 'r', object: 'response', status: 'completed', output: [], model: 'm' };
const embeddings = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'm' };

const asked = (model: string, more: object = {}) => ({
  ...{ model, max_tokens: 9, input: 'Hello', messages: [{ role: 'user', content: 'Hello' }] },
  ...more,
});
const ask = (path: string, body: object) => post(gw, path, body, { key: null });

/** What takes the place of an answer, by the surface and the provider's protocol. */
const INSTEAD: readonly (readonly [path: string, what: string, body: unknown, answer: object])[] = [
  [CHAT, 'an error', error, completion],
  [CHAT, 'an error of text', { error: 'planted' }, completion],
  [CHAT, 'an error beside no choices', { ...error, id: 'c', choices: [] }, completion],
  [CHAT, 'an error in a choice', { ...completion, choices: [{ ...choice, ...error }] }, completion],
  [
    CHAT,
    'a choice that ends with an error',
    { ...completion, choices: [{ ...choice, finish_reason: 'error' }] },
    completion,
  ],
  [CHAT, 'no choices', { ...completion, choices: [] }, completion],
  [CHAT, 'a choice without a message', { ...completion, choices: [{ index: 0, text: 'no' }] }, completion],
  [CHAT, 'a list', [error], completion],
  [CHAT, 'null', null, completion],
  ['/v1/responses', 'an error', error, response],
  ['/v1/responses', 'another object', { ok: true }, response],
  ['/v1/embeddings', 'an error', error, embeddings],
  ['/v1/messages', 'an error', failed, message],
  ['/v1/messages', 'an error beside content', { ...message, ...failed }, message],
  ['/local/v1/messages', 'an error', error, completion],
  ['/messages/v1/chat/completions', 'an error', failed, message],
];

describe('a provider that answers 200 with', () => {
  it.each(INSTEAD)('no answer has failed, and the next one is asked: %s, %s', async (path, what, body, answer) => {
    const model = `${path} ${what}`;
    bad.answers(model, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
    good.answers(model, { body: JSON.stringify(answer) });
    expect((await ask(path, asked(model))).status).toBe(502);
    const spared = await ask(`/spared${path}`, asked(model));
    expect([spared.status, good.requests(model).length]).toEqual([200, 1]);
  });

  it.each([
    [400, { error: { code: 400, message: 'planted' } }],
    [429, { error: { code: 429, message: 'planted' } }],
    [502, { error: { code: 503, message: 'planted' } }],
    [502, { error: { code: 200, message: 'planted' } }],
    [502, { error: { code: 1e9, message: 'planted' } }],
  ])('an error that names its status is answered with it: %d, %j', async (status, body) => {
    const model = `named ${body.error.code}`;
    bad.answers(model, { body: JSON.stringify(body) });
    const answer = await ask(CHAT, asked(model));
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toHaveProperty('error.message');
  });
});

describe('the official clients', () => {
  it('raise an error of the API for an error under status 200', async () => {
    const openai = new OpenAI({ baseURL: `${gw.url}/v1`, apiKey: 'unused', maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: gw.url, apiKey: 'unused', maxRetries: 0 });
    bad.answers('official', { body: JSON.stringify(error) });
    bad.answers('official-messages', { body: JSON.stringify(failed) });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    await expect(openai.chat.completions.create({ model: 'official', messages })).rejects.toThrow(OpenAI.APIError);
    await expect(openai.responses.create({ model: 'official', input: 'Hello' })).rejects.toThrow(OpenAI.APIError);
    const asking = anthropic.messages.create({ model: 'official-messages', max_tokens: 9, messages });
    await expect(asking).rejects.toThrow(Anthropic.APIError);
  });
});

const created = { type: 'response.created', response: { ...response, status: 'in_progress' } };
const started = { type: 'message_start', message: { ...message, content: [], stop_reason: null } };

/** Streams, and whether they are whole. */
const STREAMS: readonly (readonly [path: string, what: string, body: string, isWhole: boolean])[] = [
  [CHAT, 'both ends', eventsOf(chunk({ content: 'a' }), chunk({}, 'stop'), '[DONE]'), true],
  [CHAT, 'a finish_reason alone', eventsOf(chunk({ content: 'a' }), chunk({}, 'length')), true],
  [CHAT, '[DONE] alone', eventsOf(chunk({ content: 'a' }), '[DONE]'), true],
  [CHAT, '[DONE] without a line behind it', `${eventsOf(chunk({ content: 'a' }))}data: [DONE]`, true],
  [CHAT, 'neither', eventsOf(chunk({ content: 'a' }), chunk({ content: 'b' })), false],
  [CHAT, 'an empty finish_reason', eventsOf(chunk({ content: 'a' }, ''), chunk({ content: 'b' }, '')), false],
  [CHAT, 'a text that quotes an end', eventsOf(chunk({ content: '"finish_reason":"stop"' })), false],
  [CHAT, 'half an event', `${eventsOf(chunk({ content: 'a' }))}data: {"id`, false],
  ['/v1/responses', 'an end', typedEventsOf(created, { type: 'response.completed', response }), true],
  ['/v1/responses', 'a failure', typedEventsOf(created, { type: 'response.failed', response }), true],
  ['/v1/responses', 'no end', typedEventsOf(created, { type: 'response.output_text.delta', delta: 'a' }), false],
  ['/v1/messages', 'no end', typedEventsOf(started), false],
];

describe('a stream', () => {
  it.each(STREAMS)(
    'to %s with %s passes as it came, and has an error behind it unless it is whole',
    async (...stream) => {
      const [path, what, body, isWhole] = stream;
      const model = `${path} ${what}`;
      bad.answers(model, { body });
      const { status, text } = await ask(path, asked(model, { stream: true }));
      expect(status).toBe(200);
      const behind = text.slice(text.lastIndexOf('data: '));
      if (isWhole) expect(behind).not.toContain('upstream_failed');
      else expect(behind).toContain('The provider ended its answer before it was whole.');
    },
  );

  it.each([1, 2])('of two choices is whole when both have ended: %d of them', async (ended) => {
    const ends = [chunk({}, 'stop', 0), chunk({}, 'stop', 1)].slice(0, ended);
    bad.answers(`two ${ended}`, { body: eventsOf(chunk({ content: 'a' }), chunk({ content: 'b' }, null, 1), ...ends) });
    const { text } = await ask(CHAT, asked(`two ${ended}`, { stream: true, n: 2 }));
    expect(text.includes('upstream_failed')).toBe(ended === 1);
  });

  it('ends with the error that its provider reports in it, as it came, and with nothing behind that', async () => {
    const passed = eventsOf(chunk({ content: 'a' }), { ...error, provider: 'planted' });
    bad.answers('reported', { body: passed + eventsOf(chunk({ content: 'b' }), '[DONE]') });
    expect((await ask(CHAT, asked('reported', { stream: true }))).text).toBe(passed);
  });

  it('that reports an error first has failed, and the next one is asked', async () => {
    bad.answers('first', { body: eventsOf(error, '[DONE]') });
    good.answers('first', { body: eventsOf(chunk({ content: 'well' }), chunk({}, 'stop'), '[DONE]') });
    expect((await ask(`/spared${CHAT}`, asked('first', { stream: true }))).text).toContain('well');
  });
});
