/** A provider of chat completions, as its public documentation has them: echoes, calls the tools that it is given. */
import { response, responseEvents } from './chat-provider-responses.ts';
import { type FakeProvider, type Protocol, Refusal, type SeenRequest, startProvider } from './fake-provider.ts';
import { FilesApi } from './files-api.ts';

export const CHAT_KEY = 'sk-chat-0123456789';

type Member = Readonly<Record<string, unknown>>;

/** `key`: what it wants in `authorization`; null: it asks for none. `name`: that of models which fail here only. `kept`: its files. */
export function startChatProvider(
  key: string | null = CHAT_KEY,
  name = 'chat',
  kept = new FilesApi(),
): Promise<FakeProvider> {
  return startProvider({
    ...protocol,
    name,
    async files(request) {
      if (/^\/v1\/(files|batches)/.test(request.url)) checkKey(request.headers, key);
      return kept.answer(request);
    },
    answer: (request) => answer(request, key),
    models: (request) => models(request, key),
  });
}

const protocol: Protocol = {
  name: 'chat',
  answer: (request) => answer(request, null),
  events: (request) => (request.url === RESPONSES ? responseEvents(request.body) : events(request)),
  models: (request) => models(request, null),
  error: ({ message, code }) => ({ error: { message, type: 'invalid_request_error', param: null, code } }),
};

const RESPONSES = '/v1/responses';
const EMBEDDINGS = '/v1/embeddings';

/** Each text as its length and its number; clients ask for Base64 of 32-bit numbers unless they are told otherwise. */
function embeddings(request: SeenRequest, key: string | null): object {
  checkCaller(request, 'POST', EMBEDDINGS, key);
  const { input, model, encoding_format: format } = request.body;
  if (input === undefined) throw new Refusal(400, 'missing_required_parameter', "Missing required parameter: 'input'.");
  const data = [input].flat().map((text, index) => {
    const embedding = Float32Array.of(String(text).length, index);
    const encoded = format === 'base64' ? Buffer.from(embedding.buffer).toString('base64') : [...embedding];
    return { object: 'embedding', index, embedding: encoded };
  });
  return { object: 'list', data, model, usage: { prompt_tokens: 21, total_tokens: 21 } };
}

function answer(request: SeenRequest, key: string | null): object {
  if (request.url === EMBEDDINGS) return embeddings(request, key);
  if (request.url !== RESPONSES) return completion(request, key);
  checkCaller(request, 'POST', RESPONSES, key);
  return response(request.body);
}

function models(request: SeenRequest, key: string | null): object {
  checkCaller(request, 'GET', '/v1/models', key);
  const model = (id: string) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'openai' });
  return { object: 'list', data: [model('gpt-4o'), model('gpt-4o-preview'), model('shared')] };
}

function members(value: unknown): readonly Member[] {
  return Array.isArray(value) ? value.map((each) => Object(each)) : [];
}

function checkCaller({ method, url, headers }: SeenRequest, verb: string, path: string, key: string | null): void {
  if (method !== verb || url.split('?')[0] !== path) throw new Refusal(404, 'unknown_url', `${method} ${url}`);
  checkKey(headers, key);
}

function checkKey({ authorization }: SeenRequest['headers'], key: string | null): void {
  if (key !== null && authorization !== `Bearer ${key}`) {
    throw new Refusal(401, 'invalid_api_key', 'Incorrect API key provided');
  }
}

function check(request: SeenRequest, key: string | null): void {
  checkCaller(request, 'POST', '/v1/chat/completions', key);
  const { headers, body } = request;
  if (headers['content-type'] !== 'application/json') throw new Refusal(400, 'invalid_type', 'not JSON');
  checkModel(body);
  if (members(body['messages']).length === 0) throw new Refusal(400, 'empty_array', "Invalid 'messages': empty array.");
}

/** What models of OpenAI refuse. Others have names of these fakes. */
function checkModel(body: Member): void {
  const model = String(body['model']);
  const unsupported = (what: string) => new Refusal(400, 'unsupported_parameter', `Unsupported parameter: ${what}`);
  if (/^(gpt-[5-9](?!.*-chat)|o\d)/.test(model) && 'max_tokens' in body) throw unsupported('max_tokens');
  const effort = body['reasoning_effort'];
  if (effort === undefined) return;
  if (/^gpt-4/.test(model)) throw unsupported('reasoning_effort');
  const efforts = Object.entries(EFFORTS)
    .find(([prefix]) => model.startsWith(prefix))?.[1]
    .split(' ');
  const hasTools = members(body['tools']).length > 0;
  const reasons = !(/^gpt-(5\.6|6)/.test(model) && hasTools);
  const taken = reasons ? efforts : ['none'];
  if (taken?.includes(String(effort)) === false) throw unsupported(`reasoning_effort ${effort}`);
}

const EFFORTS: Readonly<Record<string, string>> = {
  'gpt-5.1': 'none low medium high',
  'gpt-5.5': 'none low medium high xhigh',
  'gpt-5.6': 'none low medium high xhigh max',
  'gpt-5': 'minimal low medium high',
  'gpt-6': 'low medium high xhigh max',
  o3: 'low medium high',
};

/** Text of the last message; where a form is asked for, one that has it. */
function lastText(body: Member): string {
  if (Object(body['response_format']).type === 'json_schema') return '{"city":"Köln"}';
  const content = members(body['messages']).at(-1)?.['content'];
  if (typeof content === 'string') return content;
  return members(content)
    .map((part) => String(part['text'] ?? `[${String(part['type'])}]`))
    .join('');
}

/** Where tools are given and none has answered, each is called. */
function callsOf(body: Member): readonly { id: string; type: string; function: { name: string; arguments: string } }[] {
  if (body['tool_choice'] === 'none' || members(body['messages']).at(-1)?.['role'] === 'tool') return [];
  return members(body['tools']).map((tool, i) => ({
    id: `call_${i}`,
    type: 'function',
    function: { name: String(Object(tool['function']).name), arguments: JSON.stringify({ city: `Köln ${i}` }) },
  }));
}

const USAGE = {
  prompt_tokens: 21,
  completion_tokens: 8,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 16, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 0 },
};

const HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, system_fingerprint: 'fp_1' };

function completion(request: SeenRequest, key: string | null): object {
  check(request, key);
  const { body } = request;
  const calls = callsOf(body);
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : lastText(body),
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const finish = calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    ...HEAD,
    object: 'chat.completion',
    model: `${String(body['model'])}-2026-01-01`,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: usageOf(body),
  };
}

/** A model `usage-JSON` has both counts said to be this. */
function usageOf({ model }: Member): object {
  const [, lie] = /^usage-(.*)$/.exec(String(model)) ?? [];
  if (lie === undefined) return USAGE;
  const count: unknown = JSON.parse(lie);
  return { prompt_tokens: count, completion_tokens: count };
}

function events({ body }: SeenRequest): readonly string[] {
  const counts = Object(body['stream_options']).include_usage === true;
  const chunk = (choices: readonly object[], usage: object | null = null) =>
    `data: ${JSON.stringify({
      ...HEAD,
      object: 'chat.completion.chunk',
      model: `${String(body['model'])}-2026-01-01`,
      choices,
      ...(counts ? { usage } : {}),
    })}\n\n`;
  const delta = (piece: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: piece, logprobs: null, finish_reason: finish }]);
  const calls = callsOf(body);
  const pieces =
    calls.length > 0
      ? calls.flatMap(({ function: { name, arguments: text }, ...call }, index) => [
          delta({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }),
          ...(text
            .match(/.{1,5}/gsu)
            ?.map((part) => delta({ tool_calls: [{ index, function: { arguments: part } }] })) ?? []),
        ])
      : (lastText(body).match(/\S+\s*/g) ?? []).map((content) => delta({ content }));
  return [
    ': keep-alive\n\n',
    delta({ role: 'assistant', content: calls.length > 0 ? null : '', refusal: null }),
    ...pieces,
    delta({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(counts ? [chunk([], usageOf(body))] : []),
    'data: [DONE]\n\n',
  ];
}
