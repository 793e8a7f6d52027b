/** Which paths are surfaces of ai-proxy, which are not, and what the list of models has. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../../../../test/ai/scripted-provider.ts';
import { type Gateway, jsonOf } from '../../../../test/serve/gateway.ts';
import { operation, startCached } from './ai-cached-project.ts';

/** Paths of the APIs, as their client libraries use them. */
const UNSERVED = [
  ...['/v1/completions', '/v1/moderations', '/v1/responses/input_tokens', '/v1/responses/resp_1', '/v1/audio/speech'],
  ...['/v1/responses/resp_1/cancel', '/v1/images/generations', '/v1/models/gpt-5', '/v1/models/openai/gpt-5'],
  ...['/v1/chat/completions/c_1', '/v1/chat/completions/c_1/messages', '/v1/threads/t_1/runs', '/v1/vector_stores'],
  ...[
    '/v1/messages/batches',
    '/v1/messages/batches/b_1/results',
    '/v1/complete',
    '/v1/uploads',
    '/team/v1/completions',
  ],
  ...['/v1/fine_tuning/jobs', '/v1/conversations/c_1/items', '/v1/videos', '/v1/audio/transcriptions'],
];
/** Paths of one's own. */
const OWN = [
  '/ask',
  '/team/completions',
  '/v1/ask',
  '/v1/models-of-cars/ask',
  '/v2/completions',
  '/v1/completions/of/mine',
];

let provider: ScriptedProvider;
let gw: Gateway;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const target = { provider: 'provider_chat', base_url: provider.url };
  const routed = {
    routes: [
      { pattern: 'gpt-*', ...target, deny: ['*-preview'] },
      { pattern: 'o[0-9]*', ...target, allow: ['o3*'] },
    ],
    targets: { unused: { ...target, provider: 'provider_local' } },
    aliases: { fast: { model: 'gpt-5' }, lost: { model: 'llama' } },
  };
  const both = (config: object) => {
    const { post } = operation(config, []);
    return { post, get: { ...post, requestBody: undefined } };
  };
  const paths = [...UNSERVED, ...OWN].map((path) => [path, both(target)]);
  gw = await startCached({
    ...JSON.parse(JSON.stringify(Object.fromEntries(paths))),
    '/routed/v1/models': JSON.parse(JSON.stringify(both(routed))),
    '/routed/v1/chat/completions': operation(routed, []),
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await provider.close();
});

const asked = { model: 'well', prompt: 'Hello', input: 'Hello', messages: [{ role: 'user', content: 'Hello' }] };
const completion = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'well' }, finish_reason: 'stop' }],
};
const send = (path: string, method: string, body: object = asked) =>
  fetch(gw.url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });

describe('a path', () => {
  it.each(UNSERVED)('of the APIs that is not served is no chat completion: %s', async (path) => {
    for (const method of ['GET', 'POST']) {
      const response = await send(path, method);
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
      const body = await jsonOf(response);
      expect(body).toMatchObject({ code: 'unsupported_surface', status: 404, error: { type: 'not_found_error' } });
      expect(body['served']).toContain('/v1/chat/completions');
      expect(body['detail']).toContain('/v1/messages/count_tokens');
    }
    expect(provider.requests('well').filter((each) => each.path !== '/v1/chat/completions')).toEqual([]);
  });

  it('encoded as the router reads it, is the same', async () => {
    expect((await send('/v1/m%6Fderations', 'POST')).status).toBe(404);
  });

  it.each(OWN)('of one’s own is a chat completion: %s', async (path) => {
    provider.answers('well', { body: JSON.stringify(completion) });
    const response = await send(path, 'POST');
    expect([response.status, await response.json()]).toEqual([200, completion]);
  });

  it('that is not served is an error to the official clients that says what is', async () => {
    const openai = new OpenAI({ baseURL: `${gw.url}/v1`, apiKey: 'unused' });
    await expect(openai.moderations.create({ input: 'Hello' })).rejects.toThrow(/does not serve this path/);
    await expect(openai.models.retrieve('gpt-5')).rejects.toThrow(OpenAI.NotFoundError);
    const anthropic = new Anthropic({ baseURL: gw.url, apiKey: 'unused' });
    const refusal = await anthropic.messages.batches.list().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Anthropic.NotFoundError);
    expect(refusal).toMatchObject({ error: { type: 'error', error: { type: 'not_found_error' } } });
  });
});

describe('the list of models', () => {
  it('has no model that a request is refused for, and each that it is not', async () => {
    const ids = ['gpt-5', 'gpt-5-preview', 'o3-mini', 'o1', 'llama', 'claude-5'];
    provider.answers('', { body: JSON.stringify({ data: ids.map((id) => ({ id, object: 'model' })) }) });
    const list = await jsonOf<{ data: { id: string }[] }>(await send('/routed/v1/models', 'GET'));
    const listed = list.data.map(({ id }) => id);
    expect(listed.toSorted()).toEqual(['fast', 'gpt-5', 'o3-mini']);
    for (const model of [...ids, 'fast', 'lost']) {
      provider.answers(model, { body: JSON.stringify(completion) });
      const { status } = await send('/routed/v1/chat/completions', 'POST', { ...asked, model });
      expect([model, status === 200]).toEqual([model, listed.includes(model)]);
    }
  });
});
