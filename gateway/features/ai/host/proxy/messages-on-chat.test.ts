/** Messages by providers of chat completions: translated there and back, requests mean the same, and answers say the same. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { EventParser } from '../../../../src/streams/server-sent-events.ts';
import { type ModelTraits, NEWEST } from './models/model-traits.ts';
import { chatRequest } from './protocols/chat-request.ts';
import { messageRequest } from './protocols/messages-request.ts';
import { readChatRequest } from './surfaces/chat-request.ts';
import { messages } from './surfaces/messages.ts';
import { readMessagesRequest } from './surfaces/messages-request.ts';
import { aiSettings } from './targets/settings.ts';

const word = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);
const text = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' });
const input = fc.dictionary(word, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
const textBlock = fc.record({ type: fc.constant('text'), text });
const data = fc.constantFrom('aGk=', 'aGVsbG8=');
const image = fc.record({
  type: fc.constant('image'),
  source: fc.oneof(
    fc.record({ type: fc.constant('base64'), media_type: fc.constantFrom('image/png', 'image/jpeg'), data }),
    fc.record({ type: fc.constant('url'), url: fc.constant('https://example.org/a.png') }),
  ),
});
const pdf = fc.record({ type: fc.constant('base64'), media_type: fc.constant('application/pdf'), data });
const file = fc.record({ type: fc.constant('document'), source: pdf, title: word });
const call = fc.record({ type: fc.constant('tool_use'), id: word, name: word, input });
const result = fc.record({
  type: fc.constant('tool_result'),
  tool_use_id: word,
  content: fc.array(textBlock, { minLength: 1, maxLength: 1 }),
});
const user = fc.record({
  role: fc.constant('user'),
  content: fc
    .tuple(
      fc.array(result, { maxLength: 2 }),
      fc.array(fc.oneof(textBlock, image, file), { minLength: 1, maxLength: 3 }),
    )
    .map((blocks) => blocks.flat()),
});
const assistant = fc.record({
  role: fc.constant('assistant'),
  content: fc
    .tuple(fc.array(textBlock, { maxLength: 1 }), fc.array(call, { maxLength: 3 }))
    .map((blocks) => blocks.flat())
    .filter((blocks) => blocks.length > 0),
});
const tool = fc.record(
  {
    name: word,
    description: text,
    input_schema: fc.constant({ type: 'object', properties: {} }),
    strict: fc.constant(true),
  },
  { requiredKeys: ['name', 'input_schema'] },
);
const choice = fc.oneof(
  fc.record({ type: fc.constantFrom('auto', 'any'), disable_parallel_tool_use: fc.constant(true) }),
  fc.record({ type: fc.constant('none') }),
  fc.record({ type: fc.constant('tool'), name: word }),
);
const request = fc.record(
  {
    model: word,
    max_tokens: fc.integer({ min: 1, max: 100_000 }),
    messages: fc
      .array(fc.tuple(user, assistant), { maxLength: 3 })
      .chain((turns) => user.map((last) => [...turns.flat(), last])),
    system: text,
    stream: fc.constant(true),
    temperature: fc.constantFrom(0, 0.5, 1),
    top_p: fc.constantFrom(0.1, 1),
    stop_sequences: fc.array(word, { minLength: 1, maxLength: 4 }),
    metadata: fc.record({ user_id: word }),
    tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
    tool_choice: choice,
    output_config: fc.constant({ format: { type: 'json_schema', schema: { type: 'object' } } }),
  },
  { requiredKeys: ['model', 'max_tokens', 'messages'] },
);

const options = { maxTokens: null, traits: NEWEST, countsStream: true } as const;
const older: ModelTraits = { ...NEWEST, thinking: 'budget', sampling: true };
const throughChat = (body: unknown) =>
  messageRequest(
    readChatRequest(JSON.parse(JSON.stringify(chatRequest(readMessagesRequest(body), options)))),
    null,
    older,
  );

describe('a request for a message', () => {
  it('means the same when it has been translated to a chat completion and back', () => {
    const check = fc.property(request, (body) => {
      const sent = JSON.parse(JSON.stringify(body));
      const { tool_choice: chosen, ...others } = sent;
      // Without tools there is nothing to choose.
      expect(throughChat(sent)).toEqual(
        sent.tools === undefined ? others : { ...others, ...(chosen && { tool_choice: chosen }) },
      );
    });
    fc.assert(check, propertyRuns(300));
  });

  it.each([
    [1024, 4000, 'low', 1024],
    [2000, 4000, 'medium', 2000],
    [3200, 4000, 'high', 3200],
    [3999, 4000, 'xhigh', 3800],
  ])('asks for an effort instead of a budget of %s in %s: %s', (budget, limit, effort, back) => {
    const body = {
      model: 'm',
      max_tokens: limit,
      messages: [{ role: 'user', content: 'x' }],
      thinking: { type: 'enabled', budget_tokens: budget },
    };
    expect(chatRequest(readMessagesRequest(body), options)).toMatchObject({ reasoning_effort: effort });
    expect(throughChat(body)).toMatchObject({ thinking: { type: 'enabled', budget_tokens: back } });
  });

  it.each([
    [{ mcp_servers: [{}] }],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    [{ messages: [{ role: 'of-tomorrow', content: 'x' }] }],
    [
      {
        messages: [
          { role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'https://a.example' } }] },
        ],
      },
    ],
    [{ messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] }],
  ])('is refused where a chat completion cannot say it: %j', (more) => {
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], ...more };
    expect(() => chatRequest(readMessagesRequest(body), options)).toThrow('does not take');
  });
});

interface Said {
  readonly content: string;
  readonly calls: readonly { id: string; name: string; input: object }[];
  readonly finish: string;
}

const said: fc.Arbitrary<Said> = fc.record({
  content: fc.oneof(text, fc.constant('')),
  calls: fc.array(fc.record({ id: word, name: word, input }), { maxLength: 3 }),
  finish: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
});
const usage = { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 5 } };
const head = { id: 'c', model: 'm-1' };

function completion({ content, calls, finish }: Said): object {
  const toolCalls = calls.map(({ id, name, input: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }));
  const message = { role: 'assistant', content: content || null, ...(calls.length > 0 && { tool_calls: toolCalls }) };
  return { ...head, choices: [{ index: 0, message, finish_reason: finish }], usage };
}

function chunks({ content, calls, finish }: Said): string {
  const deltas: object[] = [{ role: 'assistant', content: '' }, ...[...content].map((piece) => ({ content: piece }))];
  for (const [index, { id, name, input: given }] of calls.entries()) {
    deltas.push({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    for (const piece of JSON.stringify(given)) deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  const all = [
    ...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { ...head, choices: [], usage },
  ];
  return `${all.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`;
}

/** What a client puts together of the events. */
function assembled(text: string): object {
  const content: { type: string; text?: string; input?: unknown; json?: string }[] = [];
  let ended: object = {};
  for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) {
    const event = JSON.parse(data);
    if (event.type === 'content_block_start') content[event.index] = { ...event.content_block };
    const block = content[event.index] ?? { type: '' };
    if (event.delta?.type === 'text_delta') block.text += event.delta.text;
    if (event.delta?.type === 'input_json_delta') block.json = (block.json ?? '') + event.delta.partial_json;
    if (event.type === 'message_delta') ended = { ...event.delta, usage: event.usage };
  }
  const blocks = content.map(({ json, ...block }) =>
    json === undefined ? block : { ...block, input: JSON.parse(json) },
  );
  return { content: blocks, ...ended };
}

describe('an answer of a provider of chat completions', () => {
  const translation = () => {
    const parsed = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };
    const settings = aiSettings({ provider: 'provider_chat', timeout: 1 });
    return messages.translate(
      { body: Buffer.of(), parsed, model: 'm', stream: true, beta: null },
      'provider_chat',
      settings,
    );
  };

  it('is the same message in a stream as it is whole, in whatever pieces of bytes it comes', () => {
    const check = fc.property(said, fc.array(fc.nat(5000), { maxLength: 40 }), (each, cut) => {
      const { body } = translation().whole(completion(each), Buffer.of());
      const whole = JSON.parse(String(body));
      const bytes = Buffer.from(chunks(each));
      const at = [0, ...cut.map((place) => Math.min(place, bytes.length)), bytes.length].sort((a, b) => a - b);
      const [parser, streamed] = [new EventParser(), translation().streamed()];
      const got = at
        .slice(1)
        .flatMap((to, i) => parser.push(bytes.subarray(at[i], to).toString('latin1')))
        .map((event) => String(streamed.push(event)))
        .join('');
      expect(streamed.end(parser.rest)).toBe('');
      const { content, stop_reason, stop_sequence, usage: counted } = whole;
      expect(assembled(got)).toEqual({ content, stop_reason, stop_sequence, usage: counted });
      expect(counted).toMatchObject({ input_tokens: 4, cache_read_input_tokens: 5, output_tokens: 4 });
      expect(content).toEqual([
        ...(each.content === '' ? [] : [{ type: 'text', text: each.content }]),
        ...each.calls.map((one) => JSON.parse(JSON.stringify({ type: 'tool_use', ...one }))),
      ]);
    });
    fc.assert(check, propertyRuns(200));
  });

  it.each([
    'data: [DONE]\n\n',
    'data: {"id":"a","model":"b","choices":[]}\n\ndata: [DONE]\n\n',
    'data: <html>\n\n',
    '',
  ])('is none in a stream of %j', (stream) => {
    const streamed = translation().streamed();
    const read = () => {
      for (const event of new EventParser().push(stream)) streamed.push(event);
      streamed.end('');
    };
    expect(read).toThrow();
  });

  it.each([{}, { choices: [] }, { choices: [{ message: 1 }] }])('is none whole: %j', (value) => {
    expect(() => translation().whole(value, Buffer.of())).toThrow('not valid');
  });

  it.each(['[]', '{"a', 'x'])('is none with the arguments %s, unless the limit has cut it', (given) => {
    const of = (finish: string) => ({
      ...head,
      choices: [
        { message: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: given } }] }, finish_reason: finish },
      ],
    });
    expect(() => translation().whole(of('tool_calls'), Buffer.of())).toThrow('arguments');
    expect(JSON.parse(String(translation().whole(of('length'), Buffer.of()).body)).content).toEqual([]);
  });
});
