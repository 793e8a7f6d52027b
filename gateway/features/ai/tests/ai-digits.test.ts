/** Numbers keep their digits on both sides of every translation and policy (docs/decisions.md#ai-digits). */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventsOf,
  type ScriptedProvider,
  startScriptedProvider,
  typedEventsOf,
} from '../../../../test/ai/scripted-provider.ts';
import { propertyRuns } from '../../../../test/property-runs.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { cached, operation, startCached } from './ai-cached-project.ts';

const policies = [
  { name: 'ai-prompt-template', config: templates() },
  { name: 'ai-prompt-guard', config: guard({ restore: ['email'] }) },
  { name: 'ai-response-guard', config: guard({}) },
];

function templates() {
  const standard = { prepend: [{ role: 'system', content: 'Be brief' }] };
  return { default_profile: 'standard', profiles: { standard }, templates: { t: { messages: [filled()] } } };
}

function filled() {
  return { role: 'user', content: 'Explain {{n}}' };
}

function guard(more: object) {
  const standard = { pii: { email: 'redact', phone: 'redact' }, blocked_patterns: ['never said'], ...more };
  return { default_profile: 'standard', hash_key: 'env://HASH_KEY', profiles: { standard } };
}

let provider: ScriptedProvider;
let gw: Gateway;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const target = (name: string) => ({
    ...{ provider: name, base_url: provider.url, max_tokens: 99 },
    aliases: Object.fromEntries(MODELS.map((model) => [`alias-${model}`, { model }])),
  });
  const paths = ['/v1/chat/completions', '/v1/responses', '/v1/messages'].flatMap((path) =>
    ['provider_chat', 'provider_messages'].flatMap((name) => [
      [`/${name}/plain${path}`, operation(target(name), [])],
      [`/${name}/policies${path}`, operation(target(name), policies)],
    ]),
  );
  const keyed = operation(target('provider_chat'), [cached({ share: 'all' })]);
  gw = await startCached({ ...Object.fromEntries(paths), '/cached/v1/chat/completions': keyed });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await provider.close();
});

const MODELS = ['whole', 'streamed', 'key', 'filled'];
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,30})?([eE][+-]?\d{1,3})?$/);
const numbers = fc.array(number, { minLength: 20, maxLength: 40 }).map((each) => [...EDGES, ...each].join(','));
const EDGES = [
  ...['12345678901234567890', '9007199254740993', '-0', '0.0', '1.0', '0.10', '1e400', '1E+2', '0.0000001'],
  ...['100000000000000000000', '4111111111111111', '-1e-7', '5e-324', '1.7976931348623157e309'],
];

/** `N` stands for the numbers in what is sent, so that nothing here writes them anew. */
const fill = (value: unknown, list: string) => JSON.stringify(value).replaceAll('"N"', `[${list}]`);
const filledIn = (text: string, list: string) => text.replaceAll('"N"', `[${list}]`).replaceAll('\\"N\\"', `[${list}]`);
/** All lists that a text has below `n`, in JSON and in texts of JSON. */
const listsIn = (text: string) => [...text.matchAll(/\\*"n\\*":\s*\[([^\]]*)\]/g)].map(([, list]) => list);

const SAID = ['Hello', 'Mail ann@example.com or call +1 212 555 0147'];
const schema = { type: 'object', properties: { city: { enum: 'N' } }, n: 'N' };
const asText = JSON.stringify({ n: 'N' });

const chat = (text: string) => ({
  ...{ seed: 1, of_tomorrow: { n: 'N' } },
  messages: [
    { role: 'user', content: text },
    { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: asText } }] },
    { role: 'tool', tool_call_id: 'a', content: text },
  ],
  tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
});
const responses = (text: string) => ({
  metadata: { n: 'N' },
  input: [
    { role: 'user', content: text },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: asText },
    { type: 'function_call_output', call_id: 'a', output: text },
  ],
  tools: [{ type: 'function', name: 'f', parameters: schema }],
});
const messages = (text: string) => ({
  max_tokens: 99,
  messages: [
    { role: 'user', content: text },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { n: 'N' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: text }] },
  ],
  tools: [{ name: 'f', input_schema: schema }],
});

const call = { id: 'a', type: 'function', function: { name: 'f', arguments: asText } };
const item = { type: 'function_call', id: 'i', call_id: 'a', name: 'f', arguments: asText, status: 'completed' };
const response = (text: string) => ({
  ...{ id: 'r', object: 'response', status: 'completed', model: 'm', of_tomorrow: { n: 'N' } },
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }, item],
});
const chunk = (delta: object, finish: string | null) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', of_tomorrow: { n: 'N' } },
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  stop_sequence: null,
  of_tomorrow: { n: 'N' },
};
const usage = { input_tokens: 1, output_tokens: 1 };

/** Answers of a provider, whole and as a stream, by its path. */
const ANSWERS: Readonly<Record<string, (text: string) => readonly [whole: object, stream: string]>> = {
  '/v1/chat/completions': (text) => [
    {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', of_tomorrow: { n: 'N' } },
      choices: [
        { index: 0, message: { role: 'assistant', content: text, tool_calls: [call] }, finish_reason: 'tool_calls' },
      ],
    },
    eventsOf(
      chunk({ role: 'assistant', content: text }, null),
      chunk({ tool_calls: [{ index: 0, ...call }] }, null),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ),
  ],
  '/v1/responses': (text) => [
    response(text),
    typedEventsOf(
      { type: 'response.created', response: { ...response(''), output: [] } },
      { type: 'response.output_item.done', item, output_index: 0 },
      { type: 'response.completed', response: response(text) },
    ),
  ],
  '/v1/messages': (text) => [
    {
      ...message,
      content: [
        { type: 'text', text },
        { type: 'tool_use', id: 'a', name: 'f', input: { n: 'N' } },
      ],
      ...{ stop_reason: 'tool_use', usage },
    },
    typedEventsOf(
      { type: 'message_start', message: { ...message, content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: asText } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage },
      { type: 'message_stop' },
    ),
  ],
};

/** The surface, the protocol of its provider, and the path there. */
const WAYS = [
  ['/v1/chat/completions', 'provider_chat', '/v1/chat/completions', chat],
  ['/v1/chat/completions', 'provider_messages', '/v1/messages', chat],
  ['/v1/responses', 'provider_chat', '/v1/responses', responses],
  ['/v1/responses', 'provider_messages', '/v1/messages', responses],
  ['/v1/messages', 'provider_messages', '/v1/messages', messages],
  ['/v1/messages', 'provider_chat', '/v1/chat/completions', messages],
] as const;

async function post(path: string, body: string): Promise<string> {
  const answer = await fetch(gw.url + path, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body,
  });
  const text = await answer.text();
  expect([answer.status, text]).toEqual([200, text]);
  return text;
}

describe('every digit of a number is the same on both sides', () => {
  const cases = WAYS.flatMap((way) => ['plain', 'policies'].map((how) => ({ way, how })));
  it.each(cases)('of $way.0 before $way.1, $how', async ({ way: [path, name, asked, request], how }) => {
    const check = async (list: string, said: string, alias: string) => {
      for (const [model, index] of [
        ['whole', 0],
        ['streamed', 1],
      ] as const) {
        const answer = ANSWERS[asked]?.(said)[index] ?? '';
        provider.answers(model, { body: filledIn(typeof answer === 'string' ? answer : JSON.stringify(answer), list) });
        const body = { ...request(said), model: `${alias}${model}`, stream: index === 1 };
        const text = await post(`/${name}/${how}${path}`, filledIn(JSON.stringify(body), list));
        const sent = provider.requests(model).at(-1)?.text ?? '';
        for (const lists of [listsIn(sent), listsIn(text)]) {
          expect(lists.length).toBeGreaterThan(0);
          expect(lists).toEqual(lists.map(() => list));
        }
      }
    };
    await fc.assert(
      fc.asyncProperty(numbers, fc.constantFrom(...SAID), fc.constantFrom('', 'alias-'), check),
      propertyRuns(4),
    );
  });
});

it('events and answers that no guard changes go on as they came', async () => {
  const spaced = '{ "id": "c", "choices": [ {"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"} ] }';
  provider.answers('whole', { body: spaced });
  expect(await post('/provider_chat/policies/v1/chat/completions', ask('whole'))).toBe(spaced);
  const stream = `id: 1\ndata: {"choices": [ {"index":0, "delta": {"content": "Hello, "}, "finish_reason": "stop"} ]}\n\n`;
  provider.answers('streamed', { body: `${stream}data: [DONE]\n\n` });
  const streamed = await post('/provider_chat/policies/v1/chat/completions', ask('streamed', { stream: true }));
  expect(streamed).toBe(`${stream}data: [DONE]\n\n`);
});

it('an answer that has a member twice shows the one that a guard has read', async () => {
  const twice = '{"choices":[{"index":0,"message":{"content":"never said","content":"Hello"},"finish_reason":"stop"}]}';
  provider.answers('whole', { body: twice });
  const text = await post('/provider_chat/policies/v1/chat/completions', ask('whole'));
  expect(text).not.toContain('never said');
  provider.answers('streamed', { body: eventsOf(twice.replaceAll('message', 'delta'), '[DONE]') });
  const streamed = await post('/provider_chat/policies/v1/chat/completions', ask('streamed', { stream: true }));
  expect(streamed).not.toContain('never said');
  expect(streamed).toContain('Hello');
});

function ask(model: string, more: object = {}): string {
  return JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...more });
}

it('questions that differ in the last digit of a seed have answers of their own', async () => {
  const [answer] = ANSWERS['/v1/chat/completions']?.('Hello') ?? [];
  provider.answers('key', { body: JSON.stringify(answer) });
  for (const seed of ['12345678901234567890', '12345678901234567891', '12345678901234567890']) {
    await post(
      '/cached/v1/chat/completions',
      fill({ ...chat('Hello'), model: 'key', seed: 0 }, '1').replace('"seed":0', `"seed":${seed}`),
    );
  }
  expect(provider.requests('key').length).toBe(2);
});

it('a number that fills a template keeps its digits', async () => {
  const [answer] = ANSWERS['/v1/chat/completions']?.('Hello') ?? [];
  provider.answers('filled', { body: JSON.stringify(answer) });
  const body = '{"model":"filled","messages":"{template://t}","properties":{"n":12345678901234567890}}';
  await post('/provider_chat/policies/v1/chat/completions', body);
  expect(provider.requests('filled').at(-1)?.text).toContain('Explain 12345678901234567890');
});
