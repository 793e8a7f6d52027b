/** The surface `/v1/responses` of ai-proxy, through a real `gw serve`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { MESSAGES_KEY, startMessagesProvider } from '../../../../test/ai/messages-provider.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';

let chat: FakeProvider;
let messages: FakeProvider;
let gw: Gateway;

const CHAT = '/v1/responses';
const MESSAGES = '/messages/v1/responses';

beforeAll(async () => {
  [chat, messages] = await Promise.all([startChatProvider(), startMessagesProvider()]);
  const onChat = { provider: 'provider_chat', api_key: 'env://CHAT_KEY', base_url: chat.url };
  const onMessages = { provider: 'provider_messages', api_key: 'env://MESSAGES_KEY', base_url: messages.url };
  const operation = (config: object) => ({
    post: {
      responses: { default: { description: 'any' } },
      requestBody: { content: { 'application/json': { schema: {} } } },
      'x-gw-dispatch': { name: 'ai-proxy', config: { timeout: 2, ...config } },
    },
  });
  const paths = {
    [CHAT]: operation(onChat),
    [MESSAGES]: operation({ ...onMessages, max_tokens: 100 }),
    '/limited/v1/responses': operation({ ...onChat, max_tokens: 100 }),
    '/local/v1/responses': operation({ provider: 'provider_local', base_url: chat.url }),
    '/fallback/v1/responses': operation({
      ...onChat,
      max_tokens: 9,
      fallback: [{ provider: 'provider_local', base_url: chat.url }, onMessages],
    }),
  };
  const document = { openapi: '3.1.0', info: { title: 'models', version: '1' }, paths };
  gw = await startGateway(await compileSpec(document, ['ai-proxy']), { env: { CHAT_KEY, MESSAGES_KEY } });
});
afterAll(async () => {
  const code = await gw.stop();
  await Promise.all([chat, messages].map((each) => each.close()));
  expect(code).toBe(0);
});

const ASKED = { model: 'gpt-4o', input: 'Guten Tag, schöne Welt', store: false };
const ID = /^resp_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function post(path: string, body: object): Promise<Response> {
  return fetch(`${gw.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...ASKED, ...body }),
  });
}

interface StreamEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly delta?: string;
  readonly code?: string;
  readonly response?: {
    readonly id: string;
    readonly status: string;
    readonly output: readonly object[];
    readonly usage: object;
  };
}

async function events(path: string, body: object = {}): Promise<readonly StreamEvent[]> {
  const response = await post(path, { ...body, stream: true });
  expect(response.status).toBe(200);
  const text = await response.text();
  return [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, name, data = '']) => {
    const event: StreamEvent = JSON.parse(data);
    expect(event.type).toBe(name);
    return event;
  });
}

const last = (provider: FakeProvider) => provider.seen.at(-1);

describe.each([CHAT, MESSAGES])('a response at %s', (path) => {
  it('has an id of the gateway, and the text', async () => {
    const response = await jsonOf(await post(path, {}));
    expect(response).toMatchObject({ object: 'response', status: 'completed', id: expect.stringMatching(ID) });
    expect(JSON.stringify(response['output'])).toContain('Guten Tag, schöne Welt');
    expect(response['usage']).toMatchObject({
      output_tokens: 8,
      input_tokens_details: { cached_tokens: 16 },
      output_tokens_details: { reasoning_tokens: 5 },
    });
  });

  it('streams, with one id, in the order of its events', async () => {
    const seen = await events(path);
    const ids = new Set(seen.flatMap(({ response }) => (response ? [response.id] : [])));
    expect([...ids]).toEqual([expect.stringMatching(ID)]);
    expect(seen.map(({ sequence_number }) => sequence_number)).toEqual(seen.map((_, i) => i));
    expect(seen.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join('')).toBe(
      ASKED.input,
    );
    expect(seen.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    const whole = await jsonOf<{ output: object[] }>(await post(path, {}));
    const text = (output: readonly object[] | undefined) => JSON.stringify(output?.at(-1)).replace(/"id":"[^"]*"/, '');
    expect(text(seen.at(-1)?.response?.output)).toBe(text(whole.output));
  });

  it('streams the same in whatever pieces it comes', async () => {
    const seen = await events(path, { model: 'byte-by-byte' });
    expect(seen.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join('')).toBe(
      ASKED.input,
    );
  });

  it.each([
    [{}, 1],
    [{ store: undefined }, 0],
    [{ store: true }, 0],
  ])('says that it is not stored unless the client wants that: %j', async (asked, without) => {
    const provider = path === CHAT ? 'provider_chat' : 'provider_messages';
    const count = async () =>
      (await scrape(gw.admin)).value('gw_plugin_ai_proxy_responses_store_downgrades_total', { provider });
    for (const stream of [false, true]) {
      const before = await count();
      const response = await post(path, { ...asked, stream });
      await response.text();
      expect(response.status).toBe(200);
      if (without === 1) expect(response.headers.get('warning')).toBeNull();
      else expect(response.headers.get('warning')).toMatch(/^299 gw ".*stateless"$/);
      expect((await count()) - before).toBe(1 - without);
    }
  });

  it('stands alone', async () => {
    const refused = await post(path, { previous_response_id: 'resp_1' });
    expect([refused.status, await jsonOf(refused)]).toMatchObject([
      400,
      { code: 'previous_response_id_not_supported' },
    ]);
    expect((await post(path, { previous_response_id: null })).status).toBe(200);
    const nameless = await post(path, { model: '' });
    expect([nameless.status, await jsonOf(nameless)]).toMatchObject([400, { code: 'model_required' }]);
  });

  it.each(['half', 'huge', 'stalls'])('ends with an error where its stream breaks off: %s', async (model) => {
    const seen = await events(path, { model });
    expect(seen.at(-1)).toMatchObject({ type: 'error', code: 'upstream_failed' });
    expect(seen.map(({ sequence_number }) => sequence_number)).toEqual(seen.map((_, i) => i));
  });

  it('is an error of the provider in the form of the surface', async () => {
    const response = await post(path, { model: 'status-429' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await jsonOf(response)).toMatchObject({ error: { message: 'planted' } });
  });
});

describe('a response by a chat provider', () => {
  it('is asked for byte for byte, with a limit of tokens where there is none', async () => {
    await post(CHAT, {});
    expect(last(chat)?.text).toBe(JSON.stringify(ASKED));
    await post('/limited/v1/responses', {});
    expect(last(chat)?.body).toEqual({ ...ASKED, max_output_tokens: 100 });
    await post('/limited/v1/responses', { max_output_tokens: 7 });
    expect(last(chat)?.body).toEqual({ ...ASKED, max_output_tokens: 7 });
  });
});

describe('a response by a local provider', () => {
  it('is refused', async () => {
    const response = await post('/local/v1/responses', {});
    expect([response.status, await jsonOf(response)]).toMatchObject([
      400,
      { code: 'responses_not_supported_for_provider' },
    ]);
  });

  it('is passed over among fallbacks', async () => {
    const response = await post('/fallback/v1/responses', { model: 'chat:status-500' });
    expect(response.status).toBe(200);
    expect(JSON.stringify(await jsonOf(response))).toContain(ASKED.input);
    expect(last(messages)?.body['model']).toBe('chat:status-500');
  });
});

describe('a response by a messages provider', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  const tool = (name: string) => ({ type: 'function', name, description: 'd', parameters, strict: true });
  const tools = [tool('weather'), tool('time')];

  it('calls tools, and gets their results, without what a model thought', async () => {
    const response = await jsonOf<{ output: { call_id: string }[] }>(await post(MESSAGES, { tools }));
    expect(response.output).toMatchObject([
      {
        type: 'function_call',
        call_id: 'toolu_0',
        name: 'weather',
        arguments: '{"city":"Köln 0"}',
        status: 'completed',
      },
      { type: 'function_call', call_id: 'toolu_1', name: 'time', arguments: '{"city":"Köln 1"}', status: 'completed' },
    ]);
    expect(last(messages)?.body['tools']).toEqual([
      { name: 'weather', description: 'd', input_schema: parameters, strict: true },
      { name: 'time', description: 'd', input_schema: parameters, strict: true },
    ]);
    const results = response.output.map(({ call_id }) => ({
      type: 'function_call_output',
      call_id,
      output: `of ${call_id};`,
    }));
    const input = [
      { role: 'developer', content: 'Be kind.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Hello' },
          { type: 'input_image', image_url: 'data:image/png;base64,aGk=' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      ...response.output,
      ...results,
    ];
    const provider = 'provider_messages';
    const count = async () =>
      (await scrape(gw.admin)).value('gw_plugin_ai_proxy_responses_reasoning_dropped_total', { provider });
    const before = await count();
    const then = await post(MESSAGES, { tools, input, instructions: 'Be brief.' });
    expect(then.headers.get('warning')).toMatch(/^299 gw "items of reasoning/);
    expect((await count()) - before).toBe(1);
    expect(await jsonOf(then)).toMatchObject({ output: [{ content: [{ text: 'of toolu_0;of toolu_1;' }] }] });
    expect(last(messages)?.body).toMatchObject({
      system: 'Be brief.\n\nBe kind.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hello' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'toolu_0' },
            { type: 'tool_use', id: 'toolu_1' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_0' },
            { type: 'tool_result', tool_use_id: 'toolu_1' },
          ],
        },
      ],
    });
  });

  it('streams calls of tools', async () => {
    const seen = await events(MESSAGES, { tools });
    const done = seen.filter(({ type }) => type === 'response.function_call_arguments.done');
    expect(done).toMatchObject([{ arguments: '{"city":"Köln 0"}' }, { arguments: '{"city":"Köln 1"}' }]);
    expect(seen.at(-1)?.response?.output).toMatchObject([{ name: 'weather' }, { name: 'time' }]);
  });

  it('has the form of a schema, a choice of tools, and says why it is incomplete', async () => {
    const schema = { type: 'object', additionalProperties: false };
    await post(MESSAGES, { text: { format: { type: 'json_schema', name: 'x', schema } } });
    expect(last(messages)?.body['output_config']).toEqual({ format: { type: 'json_schema', schema } });
    await post(MESSAGES, { tools, tool_choice: { type: 'function', name: 'time' }, parallel_tool_calls: false });
    expect(last(messages)?.body['tool_choice']).toEqual({
      type: 'tool',
      name: 'time',
      disable_parallel_tool_use: true,
    });
    const short = await jsonOf(await post(MESSAGES, { max_output_tokens: 2 }));
    expect(short).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    const seen = await events(MESSAGES, { model: 'refuses' });
    expect(seen.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { incomplete_details: { reason: 'content_filter' } },
    });
  });

  it.each([
    [{ tools: [{ type: 'custom', name: 'x' }] }, 'custom_tools_not_supported_for_provider'],
    [{ tools: [{ type: 'local_shell' }] }, 'custom_tools_not_supported_for_provider'],
    [{ tools: [{ type: 'web_search' }] }, 'custom_tools_not_supported_for_provider'],
    [{ tool_choice: { type: 'web_search' } }, 'custom_tools_not_supported_for_provider'],
    [{ input: [{ type: 'local_shell_call', call_id: 'a' }] }, 'custom_tools_not_supported_for_provider'],
    [{ input: [{ type: 'item_reference', id: 'a' }] }, 'unsupported_for_provider'],
    [{ input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'a' }] }] }, 'unsupported_for_provider'],
    [{ background: true }, 'unsupported_for_provider'],
    [{ input: null }, 'invalid_request'],
  ])('is refused where it cannot be said there: %j', async (asked, code) => {
    const response = await post(MESSAGES, asked);
    expect([response.status, await jsonOf(response)]).toMatchObject([400, { code }]);
  });
});
