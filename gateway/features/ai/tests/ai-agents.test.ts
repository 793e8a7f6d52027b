/** What coding agents send to `/v1/messages`, and what providers of chat completions answer them, by the official client. */
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, type ScriptedProvider, startScriptedProvider } from '../../../../test/ai/scripted-provider.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import { operation, post, startCached } from './ai-cached-project.ts';

const priced = {
  name: 'ai-cost-tracker',
  config: {
    prices: { '*/*': { prompt: 1, completion: 1 } },
    default_profile: 'all',
    profiles: { all: { budgets: [{ limit_usd: 0.001, period: 'day', partition_key: 'header:x-none' }] } },
  },
};
const limited = {
  name: 'ai-token-limit',
  config: { default_profile: 'all', profiles: { all: { quota: 1, window: 60 } } },
};

let provider: ScriptedProvider;
let gw: Gateway;
let client: Anthropic;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const on = (name: string) => ({ provider: name, base_url: provider.url });
  gw = await startCached({
    '/v1/messages': operation(on('provider_chat'), []),
    '/v1/messages/count_tokens': operation(on('provider_chat'), [priced, limited]),
    '/native/v1/messages/count_tokens': operation(on('provider_messages'), [priced, limited]),
    '/native/v1/chat/completions': operation({ ...on('provider_messages'), max_tokens: 99 }, []),
  });
  client = new Anthropic({ baseURL: gw.url, apiKey: 'unused', maxRetries: 0 });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await provider.close();
});

const said = { role: 'user' as const, content: 'Hello' };
const head = { id: 'c', object: 'chat.completion', created: 1, model: 'm' };
const usage = { prompt_tokens: 9, completion_tokens: 4 };
const whole = (message: object, finish: string) => ({
  body: JSON.stringify({ ...head, choices: [{ index: 0, message, finish_reason: finish }], usage }),
});
const chunk = (delta: object, finish: string | null = null) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const well = whole({ role: 'assistant', content: 'well' }, 'stop');
const sent = (model: string) => JSON.parse(provider.requests(model).at(-1)?.text ?? '{}');
const ask = (model: string, more: object = {}, path = '/v1/messages') =>
  post(gw, path, { model, max_tokens: 99, messages: [said], ...more }, { key: null });
const called = (index: number, text: string, id = `call_${index}`) => ({
  ...{ index, id, type: 'function' },
  function: { name: `tool_${id.slice(-1)}`, arguments: text },
});
const goesOn = (index: number, text: string) => ({ index, function: { arguments: text } });

describe('a request of an agent', () => {
  it('may have instructions among its turns, which stay where they are', async () => {
    provider.answers('system', well);
    const reminder = { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] };
    const turns = [said, { role: 'assistant', content: 'Yes?' }, said, reminder];
    expect((await ask('system', { system: 'Be kind.', messages: turns })).status).toBe(200);
    expect(sent('system').messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      said,
      { role: 'assistant', content: 'Yes?' },
      said,
      { role: 'system', content: 'Be brief.' },
    ]);
  });

  it('may have tools without arguments, which providers of chat completions get with properties', async () => {
    provider.answers('bare', well);
    const tools = [
      { name: 'now', input_schema: { type: 'object', additionalProperties: false } },
      { name: 'at', input_schema: { type: 'object', properties: { zone: { type: 'string' } } } },
    ];
    expect((await ask('bare', { tools })).status).toBe(200);
    expect(sent('bare').tools.map((each: { function: { parameters: object } }) => each.function.parameters)).toEqual([
      { type: 'object', additionalProperties: false, properties: {} },
      { type: 'object', properties: { zone: { type: 'string' } } },
    ]);
  });

  it('has an id of its user that fits, and is the same for the same user', async () => {
    provider.answers('user', well);
    const long = (session: string) => `user_${'0123456789abcdef'.repeat(4)}_account__session_${session}`;
    const users: string[] = [];
    for (const user of ['short', 'x'.repeat(64), long('a'), long('a'), long('b')]) {
      expect((await ask('user', { metadata: { user_id: user } })).status).toBe(200);
      users.push(sent('user').user);
    }
    expect(users.slice(0, 2)).toEqual(['short', 'x'.repeat(64)]);
    expect(users.every(({ length }) => length <= 64)).toBe(true);
    expect(users[2]).toBe(users[3]);
    expect(users[4]).not.toBe(users[2]);
  });

  it('may have pictures in results of tools, which the user shows behind them', async () => {
    provider.answers('picture', well);
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    const result = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content });
    const tool = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
    const shown = result('b', [
      { type: 'text', text: 'Look: ' },
      { type: 'image', source },
    ]);
    const turns = [
      said,
      { role: 'assistant', content: [tool('a'), tool('b')] },
      { role: 'user', content: [result('a', 'nothing'), shown, { type: 'text', text: 'And now?' }] },
      { role: 'assistant', content: [tool('c')] },
      { role: 'user', content: [result('c', [{ type: 'image', source }])] },
      { role: 'assistant', content: 'I see.' },
      said,
    ];
    const { status, text } = await ask('picture', { messages: turns });
    expect([status, text]).toEqual([200, text]);
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
    const of = (id: string) => ({ type: 'text', text: `Of the result of the call ${id}:` });
    expect(sent('picture').messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'nothing' },
      { role: 'tool', tool_call_id: 'b', content: 'Look: [image: in the next message of the user]' },
      { role: 'user', content: [of('b'), picture, { type: 'text', text: 'And now?' }] },
      expect.objectContaining({ role: 'assistant' }),
      { role: 'tool', tool_call_id: 'c', content: '[image: in the next message of the user]' },
      { role: 'user', content: [of('c'), picture] },
      { role: 'assistant', content: 'I see.' },
      said,
    ]);
  });
});

describe('a count of tokens', () => {
  const counted = { model: 'counts', messages: [{ role: 'user' as const, content: 'four letters a token' }] };

  it('is estimated where the provider has none, without asking or charging', async () => {
    const before = await scrape(gw.admin);
    const { input_tokens } = await client.messages.countTokens(counted);
    expect(input_tokens).toBeGreaterThanOrEqual(5);
    const more = await client.messages.countTokens({ ...counted, system: 'x'.repeat(4000) });
    expect(more.input_tokens).toBeGreaterThanOrEqual(input_tokens + 1000);
    const answer = await ask('counts', {}, '/v1/messages/count_tokens');
    expect(answer.headers.get('warning')).toContain('estimated');
    expect(provider.requests('counts')).toEqual([]);
    const spent = (scraped: typeof before) => scraped.value('gw_plugin_ai_cost_tracker_cost_usd_total', {});
    expect(spent(await scrape(gw.admin))).toBe(spent(before));
  });

  it('is that of a provider of messages, which is not charged either', async () => {
    provider.answers('counts-itself', { body: '{"input_tokens":17}' });
    const native = new Anthropic({ baseURL: `${gw.url}/native`, apiKey: 'unused', maxRetries: 0 });
    for (let i = 0; i < 3; i++) {
      expect(await native.messages.countTokens({ ...counted, model: 'counts-itself' })).toEqual({ input_tokens: 17 });
    }
    const asked = provider.requests('counts-itself');
    expect(asked.map(({ path }) => path)).toEqual(Array(3).fill('/v1/messages/count_tokens'));
    provider.answers('counts-not', { body: '{"type":"error","error":{"type":"api_error","message":"planted"}}' });
    await expect(native.messages.countTokens({ ...counted, model: 'counts-not' })).rejects.toMatchObject({
      status: 502,
    });
  });
});

const calls = [called(0, '{"a":1}'), called(1, '{"b":2}')];

describe('why a model has stopped', () => {
  it.each([
    ['stop', calls, 'tool_use'],
    ['tool_calls', calls, 'tool_use'],
    ['tool_calls', [], 'end_turn'],
    ['length', calls, 'max_tokens'],
    ['stop', [], 'end_turn'],
  ])('is told by what it has said: %s beside %j is %s', async (finish, tool_calls, stop) => {
    const model = `${finish} ${tool_calls.length}`;
    const more = tool_calls.length === 0 ? { content: 'x' } : { content: null, tool_calls };
    const stream = { body: eventsOf(chunk(more), chunk({}, finish), '[DONE]') };
    provider.answers(model, whole({ role: 'assistant', ...more }, finish), stream);
    const request = { model, max_tokens: 99, messages: [said] };
    expect((await client.messages.create(request)).stop_reason).toBe(stop);
    expect((await client.messages.stream(request).finalMessage()).stop_reason).toBe(stop);
  });

  it('is told so the other way round, too', async () => {
    const content = [{ type: 'tool_use', id: 'a', name: 'f', input: {} }];
    provider.answers('native', {
      body: JSON.stringify({
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content,
        stop_reason: 'end_turn',
      }),
    });
    const { text } = await ask('native', {}, '/native/v1/chat/completions');
    expect(JSON.parse(text).choices[0].finish_reason).toBe('tool_calls');
  });
});

/** Chunks of two calls, in ways in which providers send them, and what comes of them. */
const STREAMS: readonly (readonly [what: string, chunks: readonly object[]])[] = [
  [
    'alternate',
    [...calls.map(({ function: f, ...each }) => ({ ...each, function: { ...f, arguments: '' } })), 0].flatMap((each) =>
      each === 0 ? ['{"a"', '{"b"', ':1}', ':2}'].map((text, i) => goesOn(i % 2, text)) : [Object(each)],
    ),
  ],
  ['come in one chunk', calls],
  ['have no index', calls.map(({ index: _, ...each }) => each)],
  ['have one index', calls.map((each) => ({ ...each, index: 0 }))],
  ['begin with the second', [called(1, '{"b":2}'), called(0, '{"a":1}')]],
];

describe('a stream of calls', () => {
  it.each(STREAMS)('that %s becomes whole calls', async (what, each) => {
    const chunks = each.map((one) => chunk({ tool_calls: [one] }));
    const body = eventsOf(
      chunk({ role: 'assistant', content: 'Let me see. ' }),
      ...chunks,
      chunk({}, 'tool_calls'),
      '[DONE]',
    );
    provider.answers(what, { body });
    const { content } = await client.messages.stream({ model: what, max_tokens: 99, messages: [said] }).finalMessage();
    expect(content[0]).toMatchObject({ type: 'text', text: 'Let me see. ' });
    const got = content.slice(1).map((block) => (block.type === 'tool_use' ? [block.name, block.input] : block.type));
    expect(got.toSorted()).toEqual([
      ['tool_0', { a: 1 }],
      ['tool_1', { b: 2 }],
    ]);
  });

  it('may say a text behind a call', async () => {
    const body = eventsOf(
      chunk({ tool_calls: [calls[0]] }),
      chunk({ content: 'So.' }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    );
    provider.answers('behind', { body });
    const { content } = await client.messages
      .stream({ model: 'behind', max_tokens: 99, messages: [said] })
      .finalMessage();
    expect(content).toMatchObject([
      { type: 'tool_use', input: { a: 1 } },
      { type: 'text', text: 'So.' },
    ]);
  });

  it('is held up to 4 MiB', async () => {
    const long = Array.from({ length: 6 }, () => chunk({ tool_calls: [goesOn(1, 'x'.repeat(1 << 20))] }));
    provider.answers('long', { body: eventsOf(...calls.map((each) => chunk({ tool_calls: [each] })), ...long) });
    const asking = client.messages.stream({ model: 'long', max_tokens: 99, messages: [said] }).finalMessage();
    await expect(asking).rejects.toThrow('before it was whole');
  });
});

describe('an answer', () => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'in ' },
    { type: 'text', text: 'parts' },
  ];

  it('may come in parts, whole and in a stream', async () => {
    const streamed = parts.map((part) => chunk({ content: [part] }));
    provider.answers('parts', whole({ role: 'assistant', content: parts }, 'stop'), {
      body: eventsOf(...streamed, chunk({}, 'stop'), '[DONE]'),
    });
    const request = { model: 'parts', max_tokens: 99, messages: [said] };
    expect((await client.messages.create(request)).content).toMatchObject([{ text: 'in parts' }]);
    expect((await client.messages.stream(request).finalMessage()).content).toMatchObject([{ text: 'in parts' }]);
  });

  it.each([
    ['the end of its choice', eventsOf(chunk({ content: 'well' }), chunk({}, 'stop'))],
    ['[DONE] without a line behind it', `${eventsOf(chunk({ content: 'well' }), chunk({}, 'stop'))}data: [DONE]`],
    [
      'an event without a line behind it',
      `${eventsOf(chunk({ content: 'well' }))}data: ${JSON.stringify(chunk({}, 'stop'))}`,
    ],
  ])('is whole where its stream ends with %s', async (what, body) => {
    provider.answers(what, { body });
    const { content, stop_reason } = await client.messages
      .stream({ model: what, max_tokens: 99, messages: [said] })
      .finalMessage();
    expect([content, stop_reason]).toMatchObject([[{ text: 'well' }], 'end_turn']);
  });
});
