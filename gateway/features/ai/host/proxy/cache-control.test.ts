/** `cache_control` reaches a provider that has it, from each place where a client may write it, and is told of elsewhere. */
import { describe, expect, it } from 'vitest';
import { chat } from './surfaces/chat.ts';
import { messages } from './surfaces/messages.ts';
import { responses } from './surfaces/responses.ts';
import type { Surface, Translation } from './surfaces/surface.ts';
import type { Provider } from './targets/provider.ts';
import { aiSettings } from './targets/settings.ts';

const MARK = { type: 'ephemeral', ttl: '1h' };
const OTHER = { type: 'ephemeral' };
const marked = (part: object) => ({ ...part, cache_control: MARK });
const text = (said: string) => ({ type: 'text', text: said });
const PICTURE = 'data:image/png;base64,aGk=';

function translate(surface: Surface, provider: Provider, request: object): Translation {
  const parsed = { model: 'm', ...request };
  const settings = aiSettings({ provider, timeout: 1, max_tokens: 10 });
  const body = Buffer.from(JSON.stringify(parsed));
  return surface.translate({ body, parsed, model: 'm', stream: false, beta: null }, provider, settings);
}

function asked(surface: Surface, provider: Provider, request: object) {
  return JSON.parse(String(translate(surface, provider, request).body));
}

describe('a chat completion before provider_messages', () => {
  const ask = (request: object) =>
    asked(chat, 'provider_messages', { messages: [{ role: 'user', content: 'a' }], ...request });
  const turns = (...said: object[]) => ask({ messages: said }).messages;

  it('has the marks of parts, of messages, of results and of calls', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } };
    expect(
      turns(
        {
          role: 'user',
          content: [
            marked(text('a')),
            text('b'),
            marked({ type: 'image_url', image_url: { url: PICTURE } }),
            marked(file),
          ],
        },
        { role: 'assistant', content: [marked(text('c'))], tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: [text('d'), marked(text('e'))] },
        { role: 'user', content: 'f', cache_control: OTHER },
      ),
    ).toEqual([
      {
        role: 'user',
        content: [
          marked(text('a')),
          text('b'),
          expect.objectContaining({ type: 'image', cache_control: MARK }),
          expect.objectContaining({ type: 'document', cache_control: MARK }),
        ],
      },
      { role: 'assistant', content: [marked(text('c')), { type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
      {
        role: 'user',
        content: [
          marked({ type: 'tool_result', tool_use_id: 'c1', content: [text('d'), text('e')] }),
          { ...text('f'), cache_control: OTHER },
        ],
      },
    ]);
  });

  it('has those of instructions, for which they are blocks, and of tools', () => {
    const system = { role: 'system', content: [text('a'), marked(text('b'))] };
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
    const said = [system, { role: 'developer', content: 'c' }, { role: 'user', content: 'd' }];
    const body = ask({ messages: said, tools: [tool, marked(tool)], cache_control: OTHER });
    expect(body.system).toEqual([text('a'), marked(text('b')), text('c')]);
    expect(body.tools.map((each: { cache_control?: object }) => each.cache_control)).toEqual([undefined, MARK]);
    expect(body.cache_control).toEqual(OTHER);
  });

  it('is without them as it was, and none of their words is read', () => {
    const said = [
      { role: 'system', content: [text('a'), text('b')] },
      { role: 'user', content: [{ ...text('c'), cache_control: null }] },
    ];
    expect(ask({ messages: said })).toMatchObject({ system: 'a\n\nb', messages: [{ content: [text('c')] }] });
    const unknown = { type: 'forever', of: [1] };
    expect(turns({ role: 'user', content: [{ ...text('a'), cache_control: unknown }] })[0].content[0]).toEqual({
      ...text('a'),
      cache_control: unknown,
    });
    expect(() => turns({ role: 'user', content: [{ ...text('a'), cache_control: 'yes' }] })).toThrow(/cache_control/);
  });
});

it('a response before provider_messages has the marks of its parts', () => {
  const input = [{ role: 'user', content: [marked({ type: 'input_text', text: 'a' })] }];
  expect(asked(responses, 'provider_messages', { input, store: false }).messages).toEqual([
    { role: 'user', content: [marked(text('a'))] },
  ]);
});

describe('a message before providers of chat completions', () => {
  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
  const use = { type: 'tool_use', id: 'c1', name: 'f', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'c1', content: 'a' };

  it.each([
    ['a part', user([marked(text('a'))])],
    ['a picture', user([marked({ type: 'image', source: { type: 'url', url: 'https://a.example/b' } })])],
    ['instructions', { ...user('a'), system: [marked(text('b'))] }],
    ['a tool', { ...user('a'), tools: [marked({ name: 'f', input_schema: { type: 'object' } })] }],
    ['the answer of an assistant', { messages: [{ role: 'assistant', content: [marked(text('a'))] }] }],
    ['a call', { messages: [{ role: 'assistant', content: [marked(use)] }] }],
    [
      'a result',
      {
        messages: [
          { role: 'assistant', content: [use] },
          { role: 'user', content: [marked(result)] },
        ],
      },
    ],
    ['the request', { ...user('a'), cache_control: MARK }],
  ])('is told that the mark of %s is left out', (_, request) => {
    for (const provider of ['provider_chat', 'provider_local'] as const) {
      const { body, warnings } = translate(messages, provider, { max_tokens: 10, ...request });
      expect([String(body).includes('cache_control'), warnings]).toEqual([false, ['cache']]);
    }
  });

  it('is told of nothing without one', () => {
    expect(translate(messages, 'provider_chat', { max_tokens: 10, ...user('a') }).warnings).toEqual([]);
  });
});
