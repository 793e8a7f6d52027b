/** ai-proxy through a real `gw serve`, with providers that answer as their documentation says, badly, late or not at all. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../ai/chat-provider.ts';
import type { FakeProvider } from '../ai/fake-provider.ts';
import { MESSAGES_KEY, startMessagesProvider } from '../ai/messages-provider.ts';
import { eventually } from '../eventually.ts';
import { fixture } from './fixture-plugin.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from './gateway.ts';
import { raw } from './http.ts';
import { type Scrape, scrape } from './scrape.ts';
import { startUpstream, type Upstream } from './upstream.ts';

let chat: FakeProvider;
let messages: FakeProvider;
let local: FakeProvider;
let silent: Upstream;
let gw: Gateway;

const PATH = '/v1/chat/completions';
const METRIC = 'gw_plugin_ai_proxy_';

/** An operation of its own for each config; all paths but those of other surfaces are chat completions. */
function operation(config: object, before: readonly object[] = []): object {
  return {
    responses: { default: { description: 'any' } },
    requestBody: { content: { 'application/json': { schema: {} } } },
    'x-gw-middlewares': before,
    'x-gw-dispatch': { name: 'ai-proxy', config },
  };
}

const tells = (key: string) => ({ name: 'context-teller', config: { key } });

const chooses = (target: string) => ({
  name: 'cel',
  config: { expression: 'true', on_match: { set_context: { 'ai.target': target } } },
});

beforeAll(async () => {
  [chat, messages, local] = await Promise.all([startChatProvider(), startMessagesProvider(), startChatProvider(null)]);
  silent = await startUpstream(() => {});
  const onChat = { provider: 'provider_chat', api_key: 'env://CHAT_KEY', base_url: chat.url };
  const onMessages = { provider: 'provider_messages', api_key: 'env://MESSAGES_KEY', base_url: messages.url };
  const onLocal = { provider: 'provider_local', base_url: local.url };
  const nowhere = { provider: 'provider_chat', base_url: 'http://127.0.0.1:1' };
  const routed = {
    routes: [
      { pattern: 'gpt-[0-9]*', ...onChat, deny: ['*-preview'] },
      { pattern: 'claude-?', ...onMessages, allow: ['claude-[!0-3]'] },
    ],
  };
  const named = { targets: { one: onChat, two: onMessages }, default_target: 'two' };
  const configs: Record<string, object> = {
    [PATH]: operation({ ...onChat, timeout: 2 }),
    '/messages': operation({ ...onMessages, max_tokens: 100, timeout: 2 }),
    '/no-limit': operation(onMessages),
    '/local': operation(onLocal),
    '/limited': operation({ ...onChat, max_tokens: 100 }),
    '/uncounted': operation({ ...onChat, stream_usage: false }),
    '/routed': operation(routed),
    '/routed-or': operation({ ...routed, ...onLocal }),
    '/named': operation({ ...named, max_tokens: 9 }),
    '/named/one': operation(named, [chooses('one')]),
    '/named/none': operation({ ...named, max_tokens: 9 }, [chooses('three')]),
    '/fallback': operation({
      ...onChat,
      timeout: 1,
      max_tokens: 9,
      fallback: [nowhere, { ...onMessages, deny: ['only-*'] }],
    }),
    '/tells-prompt': operation(onChat, [tells('ai.prompt_tokens')]),
    '/tells-model': operation({ ...onMessages, max_tokens: 9 }, [tells('ai.model')]),
    '/tells-cached': operation({ ...onMessages, max_tokens: 9 }, [tells('ai.cached_tokens')]),
    '/nowhere': operation(nowhere),
    '/header': operation({ ...onLocal, api_key: 'env://CHAT_KEY', auth: { header: 'X-Api-Token' } }),
    '/query': operation({ ...onLocal, api_key: 'env://CHAT_KEY', auth: { query: 'key' } }),
    '/wrong-key': operation({ ...onChat, api_key: 'env://MESSAGES_KEY' }),
    '/wrong-key-messages': operation({ ...onMessages, api_key: 'env://CHAT_KEY', max_tokens: 9 }),
  };
  const catalogs: Record<string, object> = {
    '/v1/models': operation({
      ...onLocal,
      base_url: chat.url,
      api_key: 'env://CHAT_KEY',
      routes: [
        { pattern: 'gpt-*', ...onChat, deny: ['*-preview'] },
        { pattern: 'o*', ...onChat, deny: ['gpt-*', '*-preview'] },
      ],
      targets: { messages: onMessages },
    }),
    '/failing/v1/models': operation({
      ...onChat,
      models_timeout_ms: 100,
      targets: {
        nowhere,
        silent: { ...nowhere, base_url: silent.url },
        wrong: { ...onMessages, api_key: 'env://CHAT_KEY' },
      },
    }),
  };
  const both = (each: object) => ({ get: each, post: each });
  const paths = Object.fromEntries([
    ...Object.entries(configs).map(([path, each]) => [path, { post: each }]),
    ...Object.entries(catalogs).map(([path, each]) => [path, both(each)]),
  ]);
  const document = { openapi: '3.1.0', info: { title: 'models', version: '1' }, paths };
  gw = await startGateway(await compileSpec(document, ['ai-proxy', 'cel'], [fixture('context-teller')]), {
    env: { CHAT_KEY, MESSAGES_KEY },
  });
});
afterAll(async () => {
  const code = await gw.stop();
  await Promise.all([chat, messages, local, silent].map((each) => each.close()));
  expect(code).toBe(0);
});

const ASKED = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Guten Tag, schöne Welt' }] };

function post(path: string, body: object | string = ASKED, init: RequestInit = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${gw.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer of-the-client' },
    body: text,
    ...init,
  });
}

/** The data of a stream's events. */
async function events(path: string, body: object): Promise<readonly string[]> {
  const response = await post(path, { ...ASKED, ...body, stream: true });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  return dataOf(await response.text());
}

function dataOf(text: string): readonly string[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data);
}

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly { index: number; function: { arguments: string } }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object | null;
  readonly error?: object;
}

const chunksOf = (data: readonly string[]): readonly Chunk[] =>
  data.filter((each) => each !== '[DONE]').map((each): Chunk => JSON.parse(each));

const textOf = (chunks: readonly Chunk[]) => chunks.map(({ choices }) => choices?.[0]?.delta.content ?? '').join('');

const last = (provider: FakeProvider) => provider.seen.at(-1);

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
    expect(last(chat)?.body).toEqual({ ...ASKED, max_tokens: 100 });
    await post('/limited', { ...ASKED, max_completion_tokens: 7 });
    expect(last(chat)?.body).toEqual({ ...ASKED, max_completion_tokens: 7 });
    await post('/limited', { ...ASKED, max_tokens: null });
    expect(last(chat)?.body).toEqual({ ...ASKED, max_tokens: 100 });
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

describe('a chat completion by a messages provider', () => {
  it('is translated, with its credential, version and limit', async () => {
    const response = await post('/messages', {
      model: 'claude-4',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
        ...ASKED.messages,
      ],
      temperature: 1.5,
      top_p: 0.5,
      stop: ['END', '\n'],
      user: 'u-1',
    });
    expect(await jsonOf(response)).toEqual({
      id: 'msg_1',
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'claude-4-20260101',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Guten Tag, schöne Welt', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 24,
        completion_tokens: 8,
        total_tokens: 32,
        prompt_tokens_details: { cached_tokens: 16 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    });
    expect(last(messages)?.headers).toMatchObject({ 'x-api-key': MESSAGES_KEY, 'anthropic-version': '2023-06-01' });
    expect(last(messages)?.headers['authorization']).toBeUndefined();
    expect(last(messages)?.body).toEqual({
      model: 'claude-4',
      max_tokens: 100,
      system: 'Be brief.\n\nBe kind.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Guten Tag, schöne Welt' }] }],
      temperature: 1,
      top_p: 0.5,
      stop_sequences: ['END'],
      metadata: { user_id: 'u-1' },
    });
  });

  it('streams, event by event', async () => {
    const data = await events('/messages', { stream_options: { include_usage: true } });
    expect(data.at(-1)).toBe('[DONE]');
    const chunks = chunksOf(data);
    expect(textOf(chunks)).toBe('Guten Tag, schöne Welt');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 24, completion_tokens: 8 } });
  });

  it('has images and documents', async () => {
    const url = 'data:image/PNG;base64,aGk=';
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url } },
      { type: 'image_url', image_url: { url: 'https://pictures.example/1.png' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
    ];
    const response = await post('/messages', { ...ASKED, messages: [{ role: 'user', content }] });
    expect(response.status).toBe(200);
    expect(last(messages)?.body['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          { type: 'image', source: { type: 'url', url: 'https://pictures.example/1.png' } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }, title: 'a.pdf' },
        ],
      },
    ]);
  });

  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  const tool = (name: string) => ({ type: 'function', function: { name, description: 'd', parameters } });
  const tools = [tool('weather'), tool('time')];

  it('calls tools, several at once, and gets their results', async () => {
    const response = await post('/messages', { ...ASKED, tools });
    const { choices } = await jsonOf<{ choices: { message: { tool_calls: { id: string }[] } }[] }>(response);
    const message = choices[0]?.message;
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(message?.tool_calls).toEqual([
      { id: 'toolu_0', type: 'function', function: { name: 'weather', arguments: '{"city":"Köln 0"}' } },
      { id: 'toolu_1', type: 'function', function: { name: 'time', arguments: '{"city":"Köln 1"}' } },
    ]);
    expect(last(messages)?.body['tools']).toEqual([
      { name: 'weather', description: 'd', input_schema: parameters },
      { name: 'time', description: 'd', input_schema: parameters },
    ]);
    const results = message?.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: `of ${id}; ` }));
    const turns = [...ASKED.messages, message, ...(results ?? []), { role: 'user', content: 'Well?' }];
    const then = await post('/messages', { ...ASKED, tools, messages: turns });
    expect(await jsonOf(then)).toMatchObject({ choices: [{ message: { content: 'of toolu_0; of toolu_1; Well?' } }] });
    expect(last(messages)?.body['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Guten Tag, schöne Welt' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'toolu_0', name: 'weather', input: { city: 'Köln 0' } },
          { type: 'tool_use', id: 'toolu_1', name: 'time', input: { city: 'Köln 1' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_0', content: [{ type: 'text', text: 'of toolu_0; ' }] },
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'of toolu_1; ' }] },
          { type: 'text', text: 'Well?' },
        ],
      },
    ]);
  });

  it('streams calls of tools, without what the model thinks', async () => {
    const nothing = { type: 'function', function: { name: 'now' } };
    const chunks = chunksOf(await events('/messages', { model: 'thinks', tools: [...tools, nothing] }));
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    const inputs = [0, 1, 2].map((i) =>
      calls
        .filter(({ index }) => index === i)
        .map(({ function: called }) => called.arguments)
        .join(''),
    );
    expect(inputs).toEqual(['{"city":"Köln 0"}', '{"city":"Köln 1"}', '{}']);
    expect(calls[0]).toEqual({
      index: 0,
      id: 'toolu_0',
      type: 'function',
      function: { name: 'weather', arguments: '' },
    });
    expect(textOf(chunks)).toBe('');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it.each([
    ['auto', undefined, { type: 'auto' }],
    ['none', undefined, { type: 'none' }],
    ['required', undefined, { type: 'any' }],
    [{ type: 'function', function: { name: 'time' } }, undefined, { type: 'tool', name: 'time' }],
    ['required', false, { type: 'any', disable_parallel_tool_use: true }],
    [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
    [undefined, undefined, undefined],
  ])('chooses tools: %j, parallel %j', async (tool_choice, parallel_tool_calls, expected) => {
    await post('/messages', { ...ASKED, tools, tool_choice, parallel_tool_calls });
    expect(last(messages)?.body['tool_choice']).toEqual(expected);
  });

  it('has an answer in the form of a schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false };
    const response_format = { type: 'json_schema', json_schema: { name: 'city', schema, strict: true } };
    const response = await post('/messages', { ...ASKED, response_format });
    expect(await jsonOf(response)).toMatchObject({ choices: [{ message: { content: '{"city":"Köln"}' } }] });
    expect(last(messages)?.body['output_config']).toEqual({ format: { type: 'json_schema', schema } });
    await post('/messages', { ...ASKED, response_format: { type: 'json_object' } });
    expect(last(messages)?.body['system']).toMatch(/JSON object/);
  });

  it.each([
    [{ max_tokens: 2 }, 'length'],
    [{ model: 'refuses' }, 'content_filter'],
  ])('says why it stopped: %j', async (asked, finish_reason) => {
    expect(await jsonOf(await post('/messages', { ...ASKED, ...asked }))).toMatchObject({
      choices: [{ finish_reason }],
    });
  });

  it.each([
    [{ n: 2 }, 'unsupported_for_provider', 'n'],
    [
      { tools: [{ type: 'custom', custom: { name: 'x' } }] },
      'custom_tools_not_supported_for_provider',
      'tools[0].type',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      'unsupported_for_provider',
      'messages[0].content[0].type',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] }] },
      'invalid_request',
      'messages[0].content[0].image_url.url',
    ],
    [
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'b', arguments: '[' } }] }] },
      'invalid_request',
      'messages[0].tool_calls[0].function.arguments',
    ],
    [{ messages: 'hello' }, 'invalid_request', 'messages'],
  ])('is refused where it cannot be said there: %j', async (asked, code, param) => {
    const response = await post('/messages', { ...ASKED, ...asked });
    expect(response.status).toBe(400);
    expect(await jsonOf(response)).toMatchObject({
      type: 'urn:gw:error:validation-failed',
      code,
      error: { code, param },
    });
  });

  it('needs a limit of tokens from the client or the config', async () => {
    const response = await post('/no-limit');
    expect([response.status, await jsonOf(response)]).toMatchObject([400, { code: 'max_tokens_required' }]);
    expect((await post('/no-limit', { ...ASKED, max_tokens: 50 })).status).toBe(200);
  });

  it('fails in the form of the surface, with the status of the provider', async () => {
    const response = await post('/messages', { ...ASKED, model: 'status-429' });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await jsonOf(response)).toEqual({
      error: { message: 'planted', type: 'rate_limit_error', param: null, code: 'rate_limit_error' },
    });
    const unauthorised = await post('/wrong-key-messages', { ...ASKED, stream: true });
    expect([unauthorised.status, await jsonOf(unauthorised)]).toMatchObject([
      401,
      { error: { message: 'invalid x-api-key' } },
    ]);
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

describe('a provider that fails', () => {
  it.each([
    ...['status-500', 'half', 'garbage'].map((how) => [how, false] as const),
    ...['status-503', 'cut', 'empty', 'silent'].map((how) => [how, true] as const),
  ])('gives way to the next: %s, stream %s', async (how, stream) => {
    const response = await post('/fallback', { ...ASKED, model: `chat:${how}`, stream });
    expect(response.status).toBe(200);
    const text = await response.text();
    const said = stream ? textOf(chunksOf(dataOf(text))) : JSON.parse(text).choices[0].message.content;
    expect(said).toBe('Guten Tag, schöne Welt');
    expect(last(messages)?.body['model']).toBe(`chat:${how}`);
  });

  it.each(['status-500', 'garbage', 'half', 'silent'])('is 502 where there is no other: %s', async (model) => {
    const response = await post(PATH, { ...ASKED, model });
    expect(response.status).toBe(502);
    expect(await jsonOf(response)).toMatchObject({ type: 'urn:gw:error:upstream-failed', error: { code: null } });
  });

  it.each(['cut', 'empty', 'status-529'])('is 502 where its stream never begins: %s', async (model) => {
    expect((await post(PATH, { ...ASKED, model, stream: true })).status).toBe(502);
  });

  it('is 502 where nothing listens, and is given time then', async () => {
    for (let i = 0; i < 5; i++) expect((await post('/nowhere')).status).toBe(502);
    const response = await post('/nowhere');
    expect(response.status).toBe(502);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('is not asked for again what it refused', async () => {
    const before = messages.seen.length;
    const response = await post('/fallback', { ...ASKED, model: 'status-400' });
    expect([response.status, await jsonOf(response)]).toMatchObject([400, { error: { message: 'planted' } }]);
    expect(messages.seen.length).toBe(before);
  });

  it('gives way to no target that does not permit the model', async () => {
    const before = messages.seen.length;
    expect((await post('/fallback', { ...ASKED, model: 'only-gpt', messages: [] })).status).toBe(400);
    expect(messages.seen.length).toBe(before);
  });

  it.each(['half', 'huge', 'stalls'])('ends a stream that has begun with an error: %s', async (model) => {
    for (const path of [PATH, '/messages']) {
      const chunks = chunksOf(await events(path, { model }));
      expect(chunks.at(-1)).toEqual({
        error: {
          message: 'The provider ended its answer before it was whole.',
          type: 'server_error',
          param: null,
          code: 'upstream_failed',
        },
      });
      expect(chunks.length).toBeGreaterThan(1);
    }
  });

  it('says its own error in a stream', async () => {
    expect(chunksOf(await events('/messages', { model: 'overloaded-later' })).at(-1)).toEqual({
      error: { message: 'Overloaded', type: 'server_error', param: null, code: 'overloaded_error' },
    });
    expect((await post('/messages', { ...ASKED, model: 'overloaded-at-once', stream: true })).status).toBe(502);
  });

  it('has an end of its stream that is none: messages say where they end', async () => {
    expect(chunksOf(await events('/messages', { model: 'ends-early' })).at(-1)).toHaveProperty('error');
    expect(chunksOf(await events(PATH, { model: 'ends-early' })).at(-1)).not.toHaveProperty('error');
  });
});

describe('a client', () => {
  it('that leaves ends the request to the provider', async () => {
    const before = chat.open.size;
    for (const model of ['stalls', 'endless', 'silent']) {
      const leaves = new AbortController();
      const asking = post(PATH, { ...ASKED, model, stream: true }, { signal: leaves.signal });
      await eventually(() => last(chat)?.body['model'] === model);
      if (model !== 'silent') await asking;
      leaves.abort();
      await asking.then(
        () => {},
        () => {},
      );
      await eventually(() => chat.open.size <= before + 1);
    }
  });

  it('that reads nothing stops its provider, and nobody else', async () => {
    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.pause();
    const body = JSON.stringify({ ...ASKED, model: 'endless', stream: true });
    const head = `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
    socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    await eventually(() => chat.endlessly.bytes > 0);
    await eventually(async () => {
      const before = chat.endlessly.bytes;
      for (let i = 0; i < 20; i++) expect((await post(PATH)).status).toBe(200);
      return chat.endlessly.bytes === before;
    });
    socket.destroy();
    await all;
  });
});

describe('the list of models', () => {
  it('has those of all providers that are permitted, each once', async () => {
    const response = await fetch(`${gw.url}/v1/models`);
    expect(response.status).toBe(200);
    const model = (id: string) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'openai' });
    const claude = { id: 'claude-4', object: 'model', created: 1_767_225_600, owned_by: 'provider_messages' };
    const list = await jsonOf<{ object: string; data: readonly { id: string }[] }>(response);
    const sorted = { ...list, data: list.data.toSorted((one, other) => (one.id < other.id ? -1 : 1)) };
    // The local provider is the same server, and permits all.
    expect(sorted).toEqual({
      object: 'list',
      data: [claude, model('gpt-4o'), model('gpt-4o-preview'), model('shared')],
    });
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
    const after = await scrape(gw.admin);
    const more = (name: string, labels: Record<string, string>) =>
      after.value(`${METRIC}${name}`, labels) - before.value(`${METRIC}${name}`, labels);
    expect(more('requests_total', { provider: 'provider_chat', status: '200' })).toBe(1);
    expect(more('tokens_total', { provider: 'provider_chat', type: 'prompt' })).toBe(21);
    expect(more('tokens_total', { provider: 'provider_chat', type: 'completion' })).toBe(8);
    expect(more('token_details_total', { provider: 'provider_chat', type: 'cached' })).toBe(16);
    expect(more('token_details_total', { provider: 'provider_chat', type: 'reasoning' })).toBe(5);
    expect(more('tokens_total', { provider: 'provider_messages', type: 'prompt' })).toBe(24);
    expect(more('resolution_total', { resolution: 'flat' })).toBe(2);
    expect(after.histogram(`${METRIC}request_duration_seconds`, { provider: 'provider_chat' }).count).toBeGreaterThan(
      0,
    );
    expect(
      after.value(`${METRIC}fallback_total`, { from_provider: 'provider_chat', to_provider: 'provider_messages' }),
    ).toBeGreaterThan(0);
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
