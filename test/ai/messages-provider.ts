/** A provider of messages, as its public documentation has them: echoes, calls the tools that it is given. */
import { type FakeProvider, Refusal, type SeenRequest, startProvider } from './fake-provider.ts';

export const MESSAGES_KEY = 'sk-messages-0123456789';

type Member = Readonly<Record<string, unknown>>;

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export function startMessagesProvider(): Promise<FakeProvider> {
  return startProvider({
    name: 'messages',
    answer: message,
    events,
    models,
    error: ({ status, message: text }) => ({
      type: 'error',
      error: { type: TYPES[status] ?? 'api_error', message: text },
      request_id: 'req_1',
    }),
  });
}

function members(value: unknown): readonly Member[] {
  return Array.isArray(value) ? value.map((each) => Object(each)) : [];
}

function refuse(message: string): never {
  throw new Refusal(400, 'invalid_request_error', message);
}

const LATEST = '2026-10-21';
const VERSIONS = ['2023-06-01', LATEST];
/** Not in the latest version. */
const SAMPLING = ['temperature', 'top_p', 'top_k'];

/** Members of a request that the protocol has. */
const KNOWN = new Set([
  ...['model', 'max_tokens', 'messages', 'system', 'stream', 'tools', 'tool_choice', 'temperature', 'top_p', 'top_k'],
  ...['stop_sequences', 'metadata', 'output_config', 'thinking', 'service_tier'],
]);

function checkCaller({ method, url, headers }: SeenRequest, verb: string, path: string): void {
  if (method !== verb || url.split('?')[0] !== path) throw new Refusal(404, 'not_found_error', `${method} ${url}`);
  const key = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
  if (key !== MESSAGES_KEY) throw new Refusal(401, 'authentication_error', 'invalid x-api-key');
  if (!VERSIONS.includes(String(headers['anthropic-version']))) refuse('anthropic-version: header is required');
}

function models(request: SeenRequest): object {
  checkCaller(request, 'GET', '/v1/models');
  const model = (id: string) => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' });
  return { data: [model('claude-4'), model('shared')], has_more: false, first_id: 'claude-4', last_id: 'shared' };
}

function check(request: SeenRequest): void {
  checkCaller(request, 'POST', '/v1/messages');
  const { body, headers } = request;
  if (headers['anthropic-version'] === LATEST && SAMPLING.some((name) => name in body)) refuse('temperature: removed');
  for (const name of Object.keys(body)) if (!KNOWN.has(name)) refuse(`${name}: Extra inputs are not permitted`);
  if (!Number.isInteger(body['max_tokens'])) refuse('max_tokens: Field required');
  if (Number(body['temperature'] ?? 0) > 1) refuse('temperature: range: 0..1');
  checkThinking(body);
  checkModel(body);
  const messages = members(body['messages']);
  if (messages.length === 0) refuse('messages: at least one message is required');
  if (messages[0]?.['role'] !== 'user') refuse('messages: first message must use the user role');
  for (const [i, message] of messages.entries()) checkMessage(message, messages[i - 1]);
  for (const tool of members(body['tools'])) {
    if (Object(tool['input_schema']).type !== 'object') refuse('tools: input_schema: Field required');
  }
}

function checkThinking(body: Member): void {
  const { type, budget_tokens: budget } = Object(body['thinking']);
  if (type !== 'enabled') return;
  if (!(budget >= 1024 && budget < Number(body['max_tokens']))) refuse('thinking.budget_tokens: not in its range');
  if ('temperature' in body || 'top_p' in body) refuse('temperature may only be set to 1 when thinking is enabled');
  if (['any', 'tool'].includes(Object(body['tool_choice']).type)) refuse('Thinking may not be enabled when forced');
  const said = members(body['messages']);
  const going = blocksOf(said.at(-1)?.['content']).some((block) => block['type'] === 'tool_result');
  if (going && blocksOf(said.at(-2)?.['content'])[0]?.['type'] !== 'thinking') refuse('Expected `thinking`');
}

/** What models of 2026 refuse. Others have names of these fakes. */
function checkModel(body: Member): void {
  const model = String(body['model']);
  const [type, effort] = [Object(body['thinking']).type, Object(body['output_config']).effort];
  const adapts = /^claude-(opus-4-[6-9]|sonnet-4-6|(opus|sonnet|haiku|fable)-5)/.test(model);
  const isClaude = model.startsWith('claude-');
  if (type === 'enabled' && adapts && !/-4-6/.test(model))
    refuse('"thinking.type.enabled" is not supported for this model');
  if (type === 'adaptive' && isClaude && !adapts) refuse('adaptive thinking is not supported on this model');
  if (effort !== undefined && isClaude && !adapts) refuse('This model does not support the effort parameter');
  if (effort === 'xhigh' && /-4-6/.test(model)) refuse('effort: xhigh is not supported');
  if (!['low', 'medium', 'high', 'xhigh', 'max', undefined].includes(effort)) refuse('effort: not one of them');
  if (type === 'disabled' && /^claude-(opus-4-7|(opus|sonnet)-5-5|fable)/.test(model))
    refuse('disabled is not supported');
  if (type === 'between_tools' && !/^claude-sonnet-5-5/.test(model)) refuse('between_tools is not supported');
  const forces = ['any', 'tool'].includes(Object(body['tool_choice']).type);
  if (forces && (type === 'adaptive' || /^claude-((opus|sonnet)-5-5|fable-5-)/.test(model)))
    refuse('tool_choice forces');
  if (adapts && !/-4-6/.test(model) && SAMPLING.some((name) => name in body)) refuse('temperature is deprecated');
}

/** Roles alternate, no text is empty, and results of tools follow the calls that they answer, first in their turn. */
function checkMessage({ role, content }: Member, before: Member | undefined): void {
  if (role === before?.['role']) refuse('messages: roles must alternate');
  const blocks = blocksOf(content);
  if (blocks.length === 0) refuse('messages: content is empty');
  for (const block of blocks) {
    if (block['type'] === 'text' && block['text'] === '') refuse('messages: text content blocks must be non-empty');
  }
  const called = blocksOf(before?.['content']).filter(({ type }) => type === 'tool_use');
  const results = blocks.slice(0, called.length).map((block) => block['tool_use_id']);
  if (called.some(({ id }) => !results.includes(id))) refuse('tool_use ids were found without tool_result blocks');
  const answered = blocks.filter(({ type }) => type === 'tool_result');
  if (answered.length > called.length) refuse('unexpected tool_use_id found in tool_result blocks');
}

function blocksOf(content: unknown): readonly Member[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : members(content);
}

/** Text of the last message, of results of tools too; other blocks by their types. */
function textOf(content: unknown): string {
  return blocksOf(content)
    .map((block) => {
      if (block['type'] === 'text') return String(block['text']);
      return block['type'] === 'tool_result' ? textOf(block['content']) : `[${String(block['type'])}]`;
    })
    .join('');
}

function lastText(body: Member): string {
  return textOf(members(body['messages']).at(-1)?.['content']);
}

function contentOf(body: Member): readonly Member[] {
  const thinks = body['model'] === 'thinks' || ['enabled', 'adaptive'].includes(Object(body['thinking']).type);
  const thought = thinks ? [{ type: 'thinking', thinking: `hm, ${lastText(body)}`, signature: 'c2ln' }] : [];
  return [...thought, ...saidOf(body)];
}

/** Where tools are given and none has answered, each is called, or one where they may not be called together. */
function saidOf(body: Member): readonly Member[] {
  const last = members(body['messages']).at(-1)?.['content'];
  const choice = Object(body['tool_choice']);
  const tools = members(body['tools']).filter((tool) => choice.type !== 'tool' || tool['name'] === choice.name);
  const answered = blocksOf(last).some(({ type }) => type === 'tool_result');
  if (tools.length === 0 || choice.type === 'none' || answered) {
    return [{ type: 'text', text: Object(body['output_config']).format ? '{"city":"Köln"}' : textOf(last) }];
  }
  const called = choice.disable_parallel_tool_use ? tools.slice(0, 1) : tools;
  return called.map((tool, i) => ({
    type: 'tool_use',
    id: `toolu_${i}`,
    name: tool['name'],
    input: Object.keys(Object(Object(tool['input_schema']).properties)).length > 0 ? { city: `Köln ${i}` } : {},
  }));
}

function stopOf(body: Member, content: readonly Member[]): string {
  if (body['model'] === 'refuses') return 'refusal';
  if (Number(body['max_tokens']) < 5) return 'max_tokens';
  return content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
}

const USAGE = { input_tokens: 5, cache_creation_input_tokens: 3, cache_read_input_tokens: 16, output_tokens: 8 };
const DETAILS = { output_tokens_details: { thinking_tokens: 5 } };

function message(request: SeenRequest): object {
  check(request);
  const { body } = request;
  const content = contentOf(body);
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: `${String(body['model'])}-20260101`,
    content,
    stop_reason: stopOf(body, content),
    stop_sequence: null,
    usage: { ...USAGE, ...DETAILS },
  };
}

function event(data: Member): string {
  return `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`;
}

function events({ body }: SeenRequest): readonly string[] {
  const content = contentOf(body);
  const begun = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  if (body['model'] === 'overloaded-at-once') return [event(error)];
  const all = [
    event({
      type: 'message_start',
      message: { ...begun, model: `${String(body['model'])}-20260101`, usage: { ...USAGE, output_tokens: 1 } },
    }),
    event({ type: 'ping' }),
    ...content.flatMap(blockEvents),
    event({
      type: 'message_delta',
      delta: { stop_reason: stopOf(body, content), stop_sequence: null },
      usage: { output_tokens: 8, ...DETAILS },
    }),
    event({ type: 'message_stop' }),
  ];
  return body['model'] === 'overloaded-later' ? [...all.slice(0, 4), event(error)] : all;
}

function blockEvents(block: Member, index: number): readonly string[] {
  const [start, kind, text] = pieces(block);
  return [
    event({ type: 'content_block_start', index, content_block: start }),
    ...(text.match(/\S{1,6}\s*/gu) ?? []).map((part) =>
      event({
        type: 'content_block_delta',
        index,
        delta: { type: kind, [kind.replace('_delta', '').replace('input_', 'partial_')]: part },
      }),
    ),
    // Clients that get no signature do not send back what was thought.
    ...(block['type'] === 'thinking'
      ? [
          event({
            type: 'content_block_delta',
            index,
            delta: { type: 'signature_delta', signature: block['signature'] },
          }),
        ]
      : []),
    event({ type: 'content_block_stop', index }),
  ];
}

function pieces(block: Member): readonly [start: object, kind: string, text: string] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: '' }, 'text_delta', String(block['text'])];
    case 'thinking':
      return [{ type: 'thinking', thinking: '', signature: '' }, 'thinking_delta', String(block['thinking'])];
    default: {
      const input = Object.keys(Object(block['input'])).length === 0 ? '' : JSON.stringify(block['input']);
      return [{ ...block, input: {} }, 'input_json_delta', input];
    }
  }
}
