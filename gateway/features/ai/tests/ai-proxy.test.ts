/** ai-proxy through a real `gw serve`: requests that pass, their targets, lists of models, counts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { MESSAGES_KEY } from '../../../../test/ai/messages-provider.ts';
import { jsonOf } from '../../../../test/serve/gateway.ts';
import { type Scrape, scrape } from '../../../../test/serve/scrape.ts';
import { type AiRig, ASKED, chunksOf, dataOf, last, PATH, startAi, textOf } from './ai-gateway.ts';

const METRIC = 'gw_plugin_ai_proxy_';

let rig: AiRig;
let gw: AiRig['gw'];
let chat: FakeProvider;
let messages: FakeProvider;
let local: FakeProvider;
const post: AiRig['post'] = (...asked) => rig.post(...asked);
const events: AiRig['events'] = (...asked) => rig.events(...asked);

beforeAll(async () => {
  rig = await startAi();
  ({ gw, chat, messages, local } = rig);
});
afterAll(async () => expect(await rig.close()).toBe(0));

describe('a chat completion', () => {
  it('passes to a chat provider byte for byte, with its credential in place of the client’s', async () => {
    const text =
      '{ "model":"gpt-4o",\n "seed": 12345678901234567890, "messages":[{"role":"user","content":"h\\u00e9"}] }';
    const response = await post(PATH, text);
    expect(response.status).toBe(200);
    expect(await jsonOf(response)).toMatchObject({ id: 'chatcmpl-1', choices: [{ message: { content: 'hé' } }] });
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('9');
    expect(last(chat)?.text).toBe(text);
    expect(last(chat)?.headers['authorization']).toBe(`Bearer ${CHAT_KEY}`);
  });

  it.each([
    ['/header', 'x-api-token'],
    ['/query', null],
  ])('carries the credential where its config says: %s', async (path, header) => {
    await post(path);
    const seen = last(local);
    expect(header === null ? seen?.url : seen?.headers[header]).toBe(
      header === null ? `${PATH}?key=${CHAT_KEY}` : CHAT_KEY,
    );
    expect(seen?.headers['authorization']).toBeUndefined();
  });

  it('goes to a local provider without one', async () => {
    expect((await post('/local')).status).toBe(200);
    expect(last(local)?.headers['authorization']).toBeUndefined();
  });

  it('has a limit of tokens where the client names none', async () => {
    await post('/limited');
    expect(last(chat)?.body).toEqual({ ...ASKED, max_completion_tokens: 100 });
    await post('/limited', { ...ASKED, max_completion_tokens: 7 });
    expect(last(chat)?.body).toEqual({ ...ASKED, max_completion_tokens: 7 });
    await post('/limited', { ...ASKED, max_tokens: null });
    expect(last(chat)?.body).toEqual({ ...ASKED, max_tokens: null, max_completion_tokens: 100 });
  });

  it('streams from a chat provider unchanged but for the count of tokens, which the client did not ask for', async () => {
    const response = await post(PATH, { ...ASKED, stream: true });
    const text = await response.text();
    expect(text.startsWith(': keep-alive\n\ndata: ')).toBe(true);
    expect(textOf(chunksOf(dataOf(text)))).toBe('Guten Tag, schöne Welt');
    expect(text).not.toContain('"usage":{');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(last(chat)?.body['stream_options']).toEqual({ include_usage: true });
  });

  it('has the count of tokens of a stream where the client asks for it', async () => {
    const data = await events(PATH, { stream_options: { include_usage: true } });
    expect(chunksOf(data).at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 21 } });
    await events(PATH, { stream_options: { include_obfuscation: false, include_usage: false } });
    expect(last(chat)?.body['stream_options']).toEqual({ include_obfuscation: false, include_usage: true });
    await events('/uncounted', {});
    expect(last(chat)?.body['stream_options']).toBeUndefined();
  });

  it.each([PATH, '/messages'])('arrives while the provider still writes: %s', async (path) => {
    const response = await post(path, { ...ASKED, model: 'stalls', stream: true });
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('Guten')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    await reader?.cancel();
  });

  it('streams the same in whatever pieces it comes', async () => {
    for (const path of [PATH, '/messages']) {
      expect(textOf(chunksOf(await events(path, { model: 'byte-by-byte' })))).toBe('Guten Tag, schöne Welt');
    }
  });
});

describe('the target of a request', () => {
  it.each([
    ['/routed', 'gpt-4o', 'chat'],
    ['/routed', 'claude-4', 'messages'],
    ['/routed-or', 'gpt-x', 'local'],
    ['/named', 'gpt-4o', 'messages'],
    ['/named/one', 'gpt-4o', 'chat'],
    ['/named/none', 'gpt-4o', 'messages'],
  ])('at %s for %s is %s', async (path, model, name) => {
    const provider = { chat, messages, local }[name] as FakeProvider;
    const before = provider.seen.length;
    expect((await post(path, { ...ASKED, model, max_tokens: 9 })).status).toBe(200);
    expect(provider.seen.length).toBe(before + 1);
    expect(last(provider)?.body['model']).toBe(model);
  });

  it.each([
    ['/routed', 'mistral', 400, 'no_route'],
    ['/routed', 'xgpt-4', 400, 'no_route'],
    ['/routed', 'GPT-4', 400, 'no_route'],
    ['/routed-or', 'gpt-4-preview', 403, 'model_not_permitted'],
    ['/routed-or', 'claude-2', 403, 'model_not_permitted'],
    [PATH, '', 400, 'model_required'],
    [PATH, undefined, 400, 'model_required'],
    [PATH, 7, 400, 'model_required'],
    [PATH, 'x'.repeat(257), 400, 'invalid_request'],
  ])('at %s for %s is refused with %d %s', async (path, model, status, code) => {
    const before = chat.seen.length + messages.seen.length + local.seen.length;
    const response = await post(path, { ...ASKED, model });
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect([response.status, await jsonOf(response)]).toMatchObject([status, { status, code, error: { code } }]);
    expect(chat.seen.length + messages.seen.length + local.seen.length).toBe(before);
  });

  it('needs JSON that can be read in one way', async () => {
    const deep = `{"model":"gpt-4o","metadata":${'[{"a":'.repeat(10_000)}1${'}]'.repeat(10_000)}}`;
    for (const body of ['{"model":"gpt-4o","model":"gpt-5"}', '{', '[]', '"x"', deep]) {
      expect((await post(PATH, body)).status).toBe(400);
    }
  });
});

describe('the list of models', () => {
  it('has those of all providers that a request would be let through with, each once', async () => {
    const response = await fetch(`${gw.url}/v1/models`);
    expect(response.status).toBe(200);
    const model = (id: string) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'openai' });
    const list = await jsonOf<{ object: string; data: readonly { id: string }[] }>(response);
    const sorted = { ...list, data: list.data.toSorted((one, other) => (one.id < other.id ? -1 : 1)) };
    // The route of gpt-4o-preview denies it, although the local provider is the same server; nothing leads to claude-4.
    expect(sorted).toEqual({ object: 'list', data: [model('gpt-4o'), model('shared')] });
    expect(chat.seen.filter(({ method }) => method === 'GET').length).toBe(2);
  });

  it('is partial where a provider fails', async () => {
    const before = await scrape(gw.admin);
    const response = await fetch(`${gw.url}/failing/v1/models`);
    expect(response.status).toBe(200);
    const list = await jsonOf<{ data: object[]; warnings: { provider: string; status: number }[] }>(response);
    expect(list).toMatchObject({ object: 'list', partial: true });
    expect(list.data.length).toBe(3);
    expect(list.warnings.map(({ provider, status }) => [provider, status])).toEqual([
      ['provider_chat', 502],
      ['provider_chat', 504],
      ['provider_messages', 401],
    ]);
    expect(JSON.stringify(list.warnings)).not.toContain('127.0.0.1');
    const failures = (from: string, seen: Scrape) =>
      seen.value(`${METRIC}models_provider_failures_total`, { provider: from });
    const after = await scrape(gw.admin);
    expect(failures('provider_chat', after) - failures('provider_chat', before)).toBe(2);
  });

  it('is read with GET', async () => {
    const response = await post('/v1/models');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
    expect(await jsonOf(response)).toMatchObject({ code: 'method_not_allowed' });
  });
});

describe('counts', () => {
  it('of requests, tokens and what led to a target are metrics, without what clients say', async () => {
    const before = await scrape(gw.admin);
    await events(PATH, {});
    await post('/messages');
    await post('/fallback', { ...ASKED, model: 'chat:status-500' });
    const after = await scrape(gw.admin);
    const more = (name: string, labels: Record<string, string>) =>
      after.value(`${METRIC}${name}`, labels) - before.value(`${METRIC}${name}`, labels);
    expect(more('requests_total', { provider: 'provider_chat', status: '200' })).toBe(1);
    expect(more('tokens_total', { provider: 'provider_chat', type: 'prompt' })).toBe(21);
    expect(more('tokens_total', { provider: 'provider_chat', type: 'completion' })).toBe(8);
    expect(more('token_details_total', { provider: 'provider_chat', type: 'cached' })).toBe(16);
    expect(more('token_details_total', { provider: 'provider_chat', type: 'reasoning' })).toBe(5);
    expect(more('tokens_total', { provider: 'provider_messages', type: 'prompt' })).toBe(48);
    expect(more('requests_total', { provider: 'provider_chat', status: '500' })).toBe(1);
    expect(more('resolution_total', { resolution: 'flat' })).toBe(3);
    expect(after.histogram(`${METRIC}request_duration_seconds`, { provider: 'provider_chat' }).count).toBeGreaterThan(
      0,
    );
    expect(more('fallback_total', { from_provider: 'provider_chat', to_provider: 'provider_messages' })).toBe(1);
  });

  it('are in the context of plugins on the way back', async () => {
    const headerOf = async (path: string) => (await post(path)).headers.get('x-context');
    expect(await headerOf('/tells-prompt')).toBe('21');
    expect(await headerOf('/tells-cached')).toBe('16');
    expect(await headerOf('/tells-model')).toBe('gpt-4o');
    const streamed = async (path: string) => (await (await post(path, { ...ASKED, stream: true })).text()).slice(-2);
    expect(await streamed('/tells-prompt')).toBe('21');
    expect(await streamed('/tells-cached')).toBe('16');
  });

  it('of tokens are in the line of the access log; credentials are nowhere', async () => {
    await events(PATH, { model: 'gpt-"4' });
    const line = await gw.logged(
      ({ ai_model: model, ai_prompt_tokens: tokens }) => model === 'gpt-"4' && tokens !== undefined,
    );
    expect(line).toMatchObject({
      ai_provider: 'provider_chat',
      ai_prompt_tokens: 21,
      ai_completion_tokens: 8,
      ai_cached_tokens: 16,
      ai_reasoning_tokens: 5,
    });
    const log = JSON.stringify(gw.log);
    for (const key of [CHAT_KEY, MESSAGES_KEY]) expect(log).not.toContain(key);
  });
});
