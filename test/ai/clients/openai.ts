/** The client `openai` of npm. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { connect, type NetConnectOpts } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { ChatCompletion, ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import type {
  FunctionTool,
  ResponseFunctionToolCall,
  ResponseInput,
  ResponseOutputItem,
} from 'openai/resources/responses/responses';
import type { ClientOptions } from 'ws';
import {
  CALLS,
  type Cases,
  CITY,
  codeIn,
  type Endpoint,
  LINES,
  listsShared,
  type OfficialClient,
  PICTURE,
  PICTURE_ANSWER,
  PICTURE_QUESTION,
  REFUSAL,
  SCHEMA,
  TEXT,
  TOOLS,
} from './official-client.ts';

const model = 'gpt-5';
const said: ChatCompletionMessageParam = { role: 'user', content: TEXT };
const image_url = `data:image/png;base64,${PICTURE}`;
const chatTools = TOOLS.map(
  (name): ChatCompletionTool => ({ type: 'function', function: { name, parameters: SCHEMA, strict: true } }),
);
const responseTools = TOOLS.map((name): FunctionTool => ({ type: 'function', name, parameters: SCHEMA, strict: true }));

function clientOf({ url, apiKey, headers }: Endpoint): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, defaultHeaders: headers, maxRetries: 0 });
}

async function limited(asking: Promise<unknown>): Promise<void> {
  await rejects(asking, (error) => {
    if (!(error instanceof OpenAI.RateLimitError)) throw error;
    match(error.message, /planted/);
    return true;
  });
}

/** One that ends before it is whole is no answer. */
async function broken(reading: Promise<unknown>): Promise<void> {
  await rejects(reading, (error) => {
    if (error instanceof OpenAI.BadRequestError) throw error;
    return true;
  });
}

async function refused(asking: Promise<unknown>): Promise<void> {
  await rejects(asking, (error) => {
    if (!(error instanceof OpenAI.BadRequestError)) throw error;
    deepStrictEqual([error.code, error.param], ['model_required', 'model']);
    match(error.message, REFUSAL);
    return true;
  });
}

function chat(endpoint: Endpoint): Cases {
  const { completions } = clientOf(endpoint).chat;
  const tools = (streams: boolean) => async () => {
    const messages: ChatCompletionMessageParam[] = [said];
    const ask = async (): Promise<ChatCompletion.Choice | undefined> => {
      const asked = { model, messages, tools: chatTools };
      const { choices } = streams
        ? await completions.stream(asked).finalChatCompletion()
        : await completions.create(asked);
      return choices[0];
    };
    const called = await ask();
    const calls = called?.message.tool_calls?.filter((each) => each.type === 'function') ?? [];
    deepStrictEqual(
      calls.map(({ function: { name, arguments: text } }) => [name, JSON.parse(text)]),
      CALLS,
    );
    strictEqual(called?.finish_reason, 'tool_calls');
    messages.push({ role: 'assistant', content: null, tool_calls: calls });
    for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: `of ${id}` });
    const answered = await ask();
    const content = answered?.message.content ?? '';
    ok(content.includes(`of ${calls[1]?.id}`));
    messages.push({ role: 'assistant', content }, said);
    strictEqual((await completions.create({ model, messages })).choices[0]?.message.content, TEXT);
  };
  return {
    chat: async () => {
      const { choices, usage } = await completions.create({ model, messages: [said] });
      strictEqual(choices[0]?.message.content, TEXT);
      strictEqual(choices[0]?.finish_reason, 'stop');
      strictEqual(usage?.completion_tokens, 8);
      strictEqual(usage.prompt_tokens_details?.cached_tokens, 16);
    },
    stream: async () => {
      const asked = { model, messages: [said], stream_options: { include_usage: true } };
      const { choices, usage } = await completions.stream(asked).finalChatCompletion();
      strictEqual(choices[0]?.message.content, TEXT);
      strictEqual(usage?.completion_tokens, 8);
    },
    tools: tools(false),
    'streamed tools': tools(true),
    images: async () => {
      const content = [
        { type: 'text' as const, text: PICTURE_QUESTION },
        { type: 'image_url' as const, image_url: { url: image_url } },
      ];
      const { choices } = await completions.create({ model, messages: [{ role: 'user', content }] });
      match(choices[0]?.message.content ?? '', PICTURE_ANSWER);
    },
    'structured output': async () => {
      const { choices } = await completions.parse({
        model,
        messages: [said],
        response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true, schema: SCHEMA } },
      });
      deepStrictEqual(JSON.parse(choices[0]?.message.content ?? ''), CITY);
    },
    reasoning: async () => {
      const asked = { model, messages: [said], reasoning_effort: 'high' as const, max_completion_tokens: 4000 };
      const { choices, usage } = await completions.create(asked);
      strictEqual(choices[0]?.message.content, TEXT);
      strictEqual(usage?.completion_tokens_details?.reasoning_tokens, 5);
    },
    errors: async () => {
      await limited(completions.create({ model: 'status-429', messages: [said] }));
      await limited(completions.create({ model: 'status-429', messages: [said], stream: true }));
    },
    'streams that break off': () =>
      broken(completions.stream({ model: 'half', messages: [said] }).finalChatCompletion()),
    refusals: () => refused(completions.create({ model: '', messages: [said], stream: true })),
  };
}

function responses(endpoint: Endpoint): Cases {
  const client = clientOf(endpoint).responses;
  const asked = { model, input: TEXT, store: false };
  const tools = (streams: boolean) => async () => {
    const input: ResponseInput = [{ role: 'user', content: TEXT }];
    const ask = (): Promise<{ readonly output: readonly ResponseOutputItem[]; readonly output_text: string }> => {
      const request = { model, input, tools: responseTools, store: false };
      return streams ? client.stream(request).finalResponse() : client.create(request);
    };
    const called = await ask();
    const calls = called.output.filter((each): each is ResponseFunctionToolCall => each.type === 'function_call');
    deepStrictEqual(
      calls.map(({ name, arguments: text }) => [name, JSON.parse(text)]),
      CALLS,
    );
    input.push(...(called.output as ResponseInput));
    for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: `of ${call_id}` });
    const answered = await ask();
    ok(answered.output_text.includes(`of ${calls[1]?.call_id}`));
    input.push(...(answered.output as ResponseInput), { role: 'user', content: TEXT });
    strictEqual((await client.create({ model, input, store: false })).output_text, TEXT);
  };
  return {
    chat: async () => {
      const response = await client.create(asked);
      strictEqual(response.output_text, TEXT);
      strictEqual(response.usage?.output_tokens, 8);
    },
    stream: async () => {
      let text = '';
      const stream = client.stream(asked).on('response.output_text.delta', ({ delta }) => {
        text += delta;
      });
      const response = await stream.finalResponse();
      deepStrictEqual([text, response.output_text], [TEXT, TEXT]);
    },
    tools: tools(false),
    'streamed tools': tools(true),
    images: async () => {
      const content = [
        { type: 'input_text' as const, text: PICTURE_QUESTION },
        { type: 'input_image' as const, image_url, detail: 'auto' as const },
      ];
      const { output_text } = await client.create({ ...asked, input: [{ role: 'user', content }] });
      match(output_text, PICTURE_ANSWER);
    },
    'structured output': async () => {
      const text = { format: { type: 'json_schema' as const, name: 'city', strict: true, schema: SCHEMA } };
      deepStrictEqual(JSON.parse((await client.parse({ ...asked, text })).output_text), CITY);
    },
    reasoning: async () => {
      const reasoning = { effort: 'high' as const, summary: 'auto' as const };
      const { output, output_text, usage } = await client.create({ ...asked, reasoning, max_output_tokens: 4000 });
      strictEqual(output[0]?.type, 'reasoning');
      strictEqual(output_text, TEXT);
      strictEqual(usage?.output_tokens_details.reasoning_tokens, 5);
    },
    errors: async () => {
      await limited(client.create({ ...asked, model: 'status-429' }));
      await limited(client.create({ ...asked, model: 'status-429', stream: true }));
    },
    'streams that break off': () => broken(client.stream({ ...asked, model: 'half' }).finalResponse()),
    refusals: () => refused(client.create({ ...asked, model: '' })),
  };
}

function embeddings(endpoint: Endpoint): Cases {
  const client = clientOf(endpoint).embeddings;
  return {
    embeddings: async () => {
      const { data, usage } = await client.create({ model: 'text-embedding-3-small', input: ['a', 'bcd'] });
      deepStrictEqual(
        data.map(({ embedding }) => embedding),
        [
          [1, 0],
          [3, 1],
        ],
      );
      strictEqual(usage.prompt_tokens, 21);
    },
    errors: () => limited(client.create({ model: 'status-429', input: 'a' })),
  };
}

/** The client speaks TLS to every address: what is behind it is the same. */
const plaintext: ClientOptions = {
  createConnection: (to: NetConnectOpts | number | string) => connect({ host: Object(to).host, port: Object(to).port }),
};

/** A handshake has got another answer. */
class NoSession extends Error {
  readonly status: number | undefined;
  readonly code: string | null;

  constructor(status: number | undefined, body: string) {
    super(`no session: ${status} ${body}`);
    this.status = status;
    this.code = codeIn(JSON.parse(body));
  }
}

/** Text of a response, and the tokens that it has cost. */
function talk({ url, apiKey, headers }: Endpoint, asked: string): Promise<readonly [string, number | undefined]> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const session = new OpenAIRealtimeWS({ model: asked, options: { ...plaintext, headers } }, client);
  let said = '';
  return new Promise<readonly [string, number | undefined]>((resolve, reject) => {
    session.on('error', reject);
    session.socket.on('unexpected-response', (_, response) => {
      void textOf(response).then((body) => reject(new NoSession(response.statusCode, body)), reject);
    });
    session.on('session.created', () => {
      session.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
      const content = [{ type: 'input_text' as const, text: TEXT }];
      session.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
      session.send({ type: 'response.create' });
    });
    session.on('response.output_text.delta', ({ delta }) => {
      said += delta;
    });
    session.on('response.done', ({ response }) => resolve([said, response.usage?.total_tokens]));
  }).finally(() => session.close());
}

const realtime = (endpoint: Endpoint): Cases => ({
  session: async () => deepStrictEqual(await talk(endpoint, 'gpt-realtime'), [TEXT, 253]),
  errors: () =>
    rejects(talk(endpoint, 'status-429'), (error) => {
      if (error instanceof NoSession && error.status !== 429) throw error;
      ok(error instanceof NoSession);
      return true;
    }),
});

const models = (endpoint: Endpoint) => listsShared(() => clientOf(endpoint).models.list());

function filesAndBatches(endpoint: Endpoint): Cases {
  const { files, batches } = clientOf(endpoint);
  const uploaded = () => files.create({ file: new File([LINES], 'lines.jsonl'), purpose: 'batch' });
  const created = async () =>
    batches.create({
      input_file_id: (await uploaded()).id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
  return {
    files: async () => {
      const { id } = await uploaded();
      strictEqual((await files.retrieve(id)).filename, 'lines.jsonl');
      strictEqual(await (await files.content(id)).text(), LINES);
      strictEqual((await files.delete(id)).deleted, true);
      await rejects(files.retrieve(id), OpenAI.NotFoundError);
    },
    batches: async () => {
      let batch = await created();
      while (batch.status !== 'completed') batch = await batches.retrieve(batch.id);
      strictEqual(batch.usage?.output_tokens, 80);
      match(await (await files.content(batch.output_file_id ?? '')).text(), /of 2/);
    },
    'a batch that is cancelled': async () => {
      const { id } = await created();
      deepStrictEqual(
        [(await batches.cancel(id)).status, (await batches.retrieve(id)).status],
        ['cancelling', 'cancelled'],
      );
    },
    lists: async () => {
      for await (const { object } of files.list()) strictEqual(object, 'file');
    },
  };
}

export const openai: OfficialClient = {
  name: 'openai',
  surfaces: { chat, responses, embeddings, models, realtime, 'files and batches': filesAndBatches },
  codeOf: (error) => (error instanceof OpenAI.APIError || error instanceof NoSession ? (error.code ?? null) : null),
};
