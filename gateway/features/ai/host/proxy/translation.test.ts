/** Conversations and answers between chat completions and messages: nothing of them is lost, however a stream is cut. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { EventParser } from '../../../../src/streams/server-sent-events.ts';
import { NEWEST } from './models/model-traits.ts';
import { messageRequest } from './protocols/messages-request.ts';
import { chat } from './surfaces/chat.ts';
import { readChatRequest } from './surfaces/chat-request.ts';
import { responses } from './surfaces/responses.ts';
import type { StreamedAnswer, Translation } from './surfaces/surface.ts';
import { aiSettings } from './targets/settings.ts';

const settings = aiSettings({ provider: 'provider_messages', timeout: 1, max_tokens: 10 });

function translation(more: object = {}): Translation {
  const parsed = { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more };
  const body = Buffer.from(JSON.stringify(parsed));
  return chat.translate({ body, parsed, model: 'm', stream: false, beta: null }, 'provider_messages', settings);
}

type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: object };

const word = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const input = fc.dictionary(word, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: word }),
  fc.record({ type: fc.constant('thinking' as const), thinking: word, signature: word }),
  fc.record({ type: fc.constant('tool_use' as const), id: word, name: word, input }),
);
const answer = fc.record({
  blocks: fc.array(block, { maxLength: 5 }),
  stop: fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'refusal', 'stop_sequence'),
});

/** The answer as the provider sends it whole. */
function whole({ blocks, stop }: { blocks: readonly Block[]; stop: string }) {
  const usage = { input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 3 };
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'm-1', content: blocks, stop_reason: stop, usage };
}

function inDeltas(each: Block): readonly [start: object, deltas: readonly object[]] {
  if (each.type === 'text')
    return [{ ...each, text: '' }, [...each.text].map((text) => ({ type: 'text_delta', text }))];
  if (each.type === 'thinking') {
    const deltas = [...each.thinking].map((thinking) => ({ type: 'thinking_delta', thinking }));
    const signed = { type: 'signature_delta', signature: each.signature };
    return [{ ...each, thinking: '', signature: '' }, [...deltas, signed]];
  }
  const deltas = [...JSON.stringify(each.input)].map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
  return [{ ...each, input: {} }, deltas];
}

/** The same in events. */
function stream({ blocks, stop }: { blocks: readonly Block[]; stop: string }): string {
  const message = { ...whole({ blocks, stop }), content: [], stop_reason: null };
  const events: { type: string; [member: string]: unknown }[] = [
    { type: 'message_start', message },
    { type: 'ping' },
    ...blocks.flatMap((each, index) => {
      const [start, deltas] = inDeltas(each);
      return [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ];
    }),
    { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ];
  return events.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join('');
}

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string | null;
      readonly tool_calls?: readonly { index: number; id?: string; function: { name?: string; arguments: string } }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage: unknown;
}

/** What a client puts together of the chunks, in the form of a completion's message. */
function assembled(chunks: readonly Chunk[]) {
  let content = '';
  let finish: string | null = null;
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const { choices } of chunks) {
    for (const { delta, finish_reason } of choices) {
      content += delta.content ?? '';
      finish = finish_reason ?? finish;
      for (const { index, id, function: called } of delta.tool_calls ?? []) {
        const call = calls[index] ?? { id: id ?? '', name: called.name ?? '', arguments: '' };
        call.arguments += called.arguments;
        calls[index] = call;
      }
    }
  }
  return { content, calls, finish, usage: chunks.at(-1)?.usage };
}

const cuts = fc.array(fc.nat(5000), { maxLength: 40 });

/** What a client gets of a stream that is cut at these places. */
function inPieces(bytes: Buffer, cut: readonly number[], streamed: StreamedAnswer): string {
  const at = [0, ...cut.map((each) => Math.min(each, bytes.length)), bytes.length].sort((a, b) => a - b);
  const parser = new EventParser();
  const text = at
    .slice(1)
    .flatMap((to, i) => parser.push(bytes.subarray(at[i], to).toString('latin1')))
    .map((event) => String(streamed.push(event)))
    .join('');
  expect(streamed.end(parser.rest)).toBe('');
  return text;
}

describe('an answer of a messages provider', () => {
  it('is the same in a stream as it is whole, in whatever pieces of bytes it comes', () => {
    const check = fc.property(answer, cuts, (sent, at) => {
      const { body } = translation().whole(whole(sent), Buffer.of());
      const { choices, usage } = JSON.parse(String(body));
      const { message, finish_reason } = choices[0];
      const streamed = translation({ stream: true, stream_options: { include_usage: true } }).streamed();
      const text = inPieces(Buffer.from(stream(sent)), at, streamed);
      const data = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, each = '']) => each);
      expect(data.pop()).toBe('[DONE]');
      expect(assembled(data.map((each): Chunk => JSON.parse(each)))).toEqual({
        content: message.content ?? '',
        calls: (message.tool_calls ?? []).map((call: { id: string; function: object }) => ({
          id: call.id,
          ...call.function,
        })),
        finish: finish_reason,
        usage,
      });
    });
    fc.assert(check, propertyRuns(200));
  });

  it('is the same response in a stream as it is whole, in whatever pieces of bytes it comes', () => {
    const plain = (value: object) => JSON.parse(JSON.stringify(value).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id'));
    const check = fc.property(answer, cuts, fc.boolean(), (sent, at, shown) => {
      const asked = { model: 'm', input: 'hi', ...(shown ? { reasoning: { summary: 'auto' } } : {}) };
      const body = Buffer.from(JSON.stringify(asked));
      const ask = (): Translation =>
        responses.translate(
          { body, parsed: asked, model: 'm', stream: true, beta: null },
          'provider_messages',
          settings,
        );
      const expectedWhole = plain(JSON.parse(String(ask().whole(whole(sent), Buffer.of()).body)));
      const streamed = ask().streamed();
      const text = inPieces(Buffer.from(stream(sent)), at, streamed);
      const events = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, each = '']) => JSON.parse(each));
      const { created_at: _, ...last } = plain(events.at(-1).response);
      const { created_at: __, ...expected } = expectedWhole;
      expect(last).toEqual(expected);
      expect(events.map((each) => each.sequence_number)).toEqual(events.map((_each, i) => i));
    });
    fc.assert(check, propertyRuns(200));
  });

  it('has all that it says as a completion', () => {
    const check = fc.property(answer, (sent) => {
      const { body, usage } = translation().whole(whole(sent), Buffer.of());
      const { message } = JSON.parse(String(body)).choices[0];
      const texts = sent.blocks.flatMap((each) => (each.type === 'text' ? [each.text] : []));
      const calls = sent.blocks.flatMap((each) => (each.type === 'tool_use' ? [each] : []));
      expect(message.content).toBe(texts.length === 0 ? null : texts.join(''));
      expect(
        (message.tool_calls ?? []).map((call: { function: { arguments: string } }) =>
          JSON.parse(call.function.arguments),
        ),
      ).toEqual(calls.map((call) => JSON.parse(JSON.stringify(call.input))));
      const nothing = { reasoning: 0, written: 0, writtenLong: 0 };
      expect(usage).toEqual({ prompt: 3, completion: 3, cached: 2, ...nothing });
    });
    fc.assert(check, propertyRuns(200));
  });

  it('is none where events come in an order that makes no answer', () => {
    const events = ['message_start', 'content_block_start', 'content_block_stop', 'message_stop', 'message_start'];
    const check = fc.property(fc.array(fc.constantFrom(...events), { maxLength: 6 }), (types) => {
      const streamed = translation({ stream: true }).streamed();
      const read = () => {
        for (const type of types) {
          const data = JSON.stringify({
            type,
            message: { id: 'a', model: 'b' },
            content_block: { type: 'text', text: '' },
          });
          streamed.push({ event: type, data, raw: '' });
        }
        streamed.end('');
      };
      // An end of a block that nobody was told of is passed over.
      const order = types.join(' ').replace(/( message_stop)( .*)?$/, '$1');
      if (/^(content_block_stop )*message_start( (content_block_start )?content_block_stop)* message_stop$/.test(order))
        read();
      else expect(read).toThrow();
    });
    fc.assert(check, propertyRuns(300));
  });
});

describe('a conversation', () => {
  const text = fc.record({ type: fc.constant('text'), text: fc.string() });
  const content = fc.oneof(fc.string(), fc.array(text, { maxLength: 3 }));
  const call = fc.record({
    id: word,
    type: fc.constant('function'),
    function: fc.record({ name: word, arguments: input.map((each) => JSON.stringify(each)) }),
  });
  const message = fc.oneof(
    fc.record({ role: fc.constantFrom('system', 'developer', 'user'), content }),
    fc.record({ role: fc.constant('assistant'), content, tool_calls: fc.array(call, { maxLength: 3 }) }),
    fc.record({ role: fc.constant('tool'), tool_call_id: word, content }),
  );

  it('becomes turns that alternate, in which all texts and calls are in their order', () => {
    const check = fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
      const conversation = readChatRequest({ model: 'm', messages });
      const { messages: sent, system } = JSON.parse(JSON.stringify(messageRequest(conversation, 10, NEWEST)));
      const roles = sent.map(({ role }: { role: string }) => role);
      expect(roles.some((role: string, i: number) => role === roles[i - 1])).toBe(false);
      const textOf = (each: string | readonly { text: string }[]) =>
        typeof each === 'string' ? each : each.map((part) => part.text).join('');
      const said = messages.filter(({ role }) => role !== 'system' && role !== 'developer');
      expect(textsIn(sent)).toBe(said.map((each) => textOf(each.content)).join(''));
      const instructed = messages
        .filter((each) => !said.includes(each))
        .map((each) => textOf(each.content))
        .join('');
      expect((system ?? '').replaceAll('\n', '')).toBe(instructed.replaceAll('\n', ''));
    });
    fc.assert(check, propertyRuns(200));
  });
});

interface Content {
  readonly type: string;
  readonly text?: string;
  readonly content?: readonly Content[];
}

function textsIn(messages: readonly { readonly content: readonly Content[] }[]): string {
  const textOf = ({ text, content }: Content): string => text ?? (content ?? []).map(textOf).join('');
  return messages.flatMap(({ content }) => content.map(textOf)).join('');
}
