/** Failures that a provider reports under status 200, whole and in streams: ai-cache stores none of them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventsOf,
  type ScriptedProvider,
  startScriptedProvider,
  typedEventsOf,
} from '../../../../test/ai/scripted-provider.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { cached, operation, post, startCached } from './ai-cached-project.ts';

let provider: ScriptedProvider;
let gw: Gateway;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const target = (name: string) => ({ provider: name, base_url: provider.url });
  const shared = [cached({ share: 'all' })];
  gw = await startCached({
    '/v1/chat/completions': operation(target('provider_chat'), shared),
    '/v1/responses': operation(target('provider_chat'), shared),
    '/v1/embeddings': operation(target('provider_chat'), shared),
    '/v1/messages': operation(target('provider_messages'), shared),
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await provider.close();
});

const error = { error: { message: 'planted', type: 'server_error', code: null } };
const chunk = (delta: object, finish: string | null = null) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const completion = (choice: object) => ({ id: 'c', object: 'chat.completion', model: 'm', choices: [choice] });
const message = { role: 'assistant', content: 'half an' };
const response = (status: string) => ({ id: 'r', object: 'response', status, output: [], model: 'm' });
const begun = {
  type: 'message_start',
  message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } },
};
const created = { type: 'response.created' };
const failed = { type: 'error', error: { type: 'overloaded_error', message: 'planted' } };

const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';

/** What a provider answers with status 200, none of which answers the question. */
const FAILURES: readonly (readonly [what: string, path: string, stream: boolean, body: string])[] = [
  ['an error alone', CHAT, false, JSON.stringify(error)],
  ['an error of text', CHAT, false, '{"error":"planted"}'],
  ['an error beside no choice', CHAT, false, JSON.stringify({ ...error, choices: [] })],
  ['an error beside an answer', CHAT, false, JSON.stringify({ ...completion({ message }), ...error })],
  ['an error in its choice', CHAT, false, JSON.stringify(completion({ message, finish_reason: 'error' }))],
  ['a choice that has no end', CHAT, false, JSON.stringify(completion({ message, finish_reason: null }))],
  ['an error, and the end', CHAT, true, eventsOf(chunk({ content: 'half' }), error, '[DONE]')],
  ['an error of text, and the end', CHAT, true, eventsOf(chunk({ content: 'half' }), { error: 'planted' }, '[DONE]')],
  ['an error with an end of its own', CHAT, true, eventsOf({ ...chunk({}, 'error'), ...error }, '[DONE]')],
  ['an end that says error', CHAT, true, eventsOf(chunk({ content: 'half' }), chunk({}, 'error'), '[DONE]')],
  ['no end of its choice', CHAT, true, eventsOf(chunk({ content: 'half' }), '[DONE]')],
  ['no end', CHAT, true, eventsOf(chunk({ content: 'half' }))],
  ['an error alone', RESPONSES, false, JSON.stringify(error)],
  ['a response that failed', RESPONSES, false, JSON.stringify({ ...response('failed'), ...error })],
  [
    'an error',
    RESPONSES,
    true,
    typedEventsOf({ ...created, response: response('in_progress') }, { ...error, type: 'error' }),
  ],
  ['no end', RESPONSES, true, typedEventsOf({ ...created, response: response('in_progress') })],
  ['an error alone', '/v1/embeddings', false, JSON.stringify(error)],
  ['an error alone', '/v1/messages', false, JSON.stringify(failed)],
  ['a message that has no end', '/v1/messages', false, JSON.stringify({ ...begun.message, stop_reason: null })],
  ['an error', '/v1/messages', true, typedEventsOf(begun, failed)],
];

describe('a provider is asked again behind', () => {
  it.each(FAILURES)('%s, to %s, stream %s', async (what, path, stream, body) => {
    const model = `${path} ${stream} ${what}`;
    provider.answers(model, { body });
    const asked = { model, input: 'Hello', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 9, stream };
    for (const time of [1, 2]) {
      const { says } = await post(gw, path, asked, { key: null });
      expect(says).toMatch(/^gw;fwd=miss(?!.*;stored)/);
      expect(provider.requests(model)).toHaveLength(time);
    }
  });

  it('nothing that has the end of its choice, although its stream lacks [DONE]', async () => {
    const model = 'well';
    provider.answers(model, { body: eventsOf(chunk({ content: 'all' }), chunk({}, 'stop')) });
    const asked = { model, messages: [], stream: true };
    expect((await post(gw, CHAT, asked, { key: null })).says).toBe('gw;fwd=miss;detail=stored-if-whole');
    expect((await post(gw, CHAT, asked, { key: null })).says).toMatch(/^gw;hit/);
    expect(provider.requests(model)).toHaveLength(1);
  });
});
