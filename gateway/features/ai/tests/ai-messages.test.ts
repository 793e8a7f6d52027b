/** Chat completions by a provider of messages, through a real `gw serve`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { MESSAGES_KEY } from '../../../../test/ai/messages-provider.ts';
import { jsonOf } from '../../../../test/serve/gateway.ts';
import { type AiRig, ASKED, chunksOf, last, startAi, textOf } from './ai-gateway.ts';

let rig: AiRig;
let messages: FakeProvider;
const post: AiRig['post'] = (...asked) => rig.post(...asked);
const events: AiRig['events'] = (...asked) => rig.events(...asked);

beforeAll(async () => {
  rig = await startAi();
  ({ messages } = rig);
});
afterAll(async () => expect(await rig.close()).toBe(0));

describe('a chat completion by a messages provider', () => {
  it('is translated, with its credential, version and limit', async () => {
    const response = await post('/messages', {
      model: 'claude-opus-4-6',
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
      model: 'claude-opus-4-6-20260101',
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
      model: 'claude-opus-4-6',
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
      502,
      {
        code: 'provider_credential_refused',
        error: { message: 'The provider refused the credential of the gateway.' },
      },
    ]);
  });
});
