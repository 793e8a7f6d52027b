/** Vercel's `ai` with its providers `@ai-sdk/openai`, `@ai-sdk/anthropic` and `@ai-sdk/openai-compatible`. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  type EmbeddingModel,
  embedMany,
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import {
  CALLS,
  type Cases,
  CITY,
  codeIn,
  type Endpoint,
  type OfficialClient,
  PICTURE,
  PICTURE_ANSWER,
  PICTURE_QUESTION,
  REFUSAL,
  SCHEMA,
  TEXT,
  TOOLS,
} from './official-client.ts';

// What it says of settings that a provider does not take is no part of any case.
globalThis.AI_SDK_LOG_WARNINGS = false;

const schema = jsonSchema<{ city: string }>({ ...SCHEMA, required: ['city'] });
const said: ModelMessage = { role: 'user', content: TEXT };

/** What is read of a stream; its errors come by a callback, and are thrown. */
async function streamed<T>(read: (onError: (told: { readonly error: unknown }) => void) => Promise<T>): Promise<T> {
  let failure: unknown;
  const result = await read(({ error }) => {
    failure ??= error;
  }).catch((error: unknown) => {
    throw failure ?? error;
  });
  if (failure !== undefined) throw failure;
  return result;
}

const codeOf = (error: unknown) => {
  if (!APICallError.isInstance(error)) return null;
  return codeIn(JSON.parse(error.responseBody ?? 'null'));
};

async function limited(asking: PromiseLike<unknown>): Promise<void> {
  await rejects(Promise.resolve(asking), (error) => {
    if (!APICallError.isInstance(error) || error.statusCode !== 429) throw error;
    match(error.message, /planted/);
    ok(error.isRetryable);
    return true;
  });
}

type ProviderOptions = Parameters<typeof generateText>[0]['providerOptions'];

function languageCases(modelOf: (id: string) => LanguageModel, id: string, unstored?: ProviderOptions & object): Cases {
  const asked = { model: modelOf(id), maxRetries: 0, maxOutputTokens: 4000 };
  /** Calls and results go back and forth by themselves; then the whole conversation goes on. */
  const callsTools =
    (streams: boolean, more: object = {}) =>
    async () => {
      const called: unknown[] = [];
      const tools = Object.fromEntries(
        TOOLS.map((name) => {
          const execute = (input: { city: string }) => {
            called.push([name, input]);
            return `of ${name}`;
          };
          return [name, tool({ inputSchema: schema, execute })];
        }),
      );
      const request = { ...asked, ...more, messages: [said], tools, stopWhen: stepCountIs(3) };
      const { text, steps, responseMessages } = streams
        ? await streamed(async (onError) => {
            const result = streamText({ ...request, onError });
            const [text, steps, responseMessages] = await Promise.all([
              result.text,
              result.steps,
              result.responseMessages,
            ]);
            return { text, steps, responseMessages };
          })
        : await generateText(request);
      deepStrictEqual(called, CALLS);
      ok(text.includes('of time'), text);
      strictEqual(steps[0]?.finishReason, 'tool-calls');
      const messages = [said, ...responseMessages, said];
      strictEqual((await generateText({ ...asked, ...more, messages })).text, TEXT);
    };
  return {
    chat: async () => {
      const { text, usage, finishReason } = await generateText({ ...asked, instructions: 'Be brief.', prompt: TEXT });
      deepStrictEqual([text, finishReason], [TEXT, 'stop']);
      strictEqual(usage.outputTokens, 8);
      strictEqual(usage.inputTokenDetails.cacheReadTokens, 16);
    },
    stream: async () => {
      const [text, usage] = await streamed(async (onError) => {
        const result = streamText({ ...asked, prompt: TEXT, onError });
        let pieces = '';
        for await (const piece of result.textStream) pieces += piece;
        return [pieces, await result.usage];
      });
      strictEqual(text, TEXT);
      strictEqual(usage.outputTokens, 8);
    },
    tools: callsTools(false),
    'streamed tools': callsTools(true),
    images: async () => {
      const content = [
        { type: 'text' as const, text: PICTURE_QUESTION },
        { type: 'file' as const, mediaType: 'image/png', data: PICTURE },
      ];
      match((await generateText({ ...asked, messages: [{ role: 'user', content }] })).text, PICTURE_ANSWER);
    },
    'structured output': async () => {
      const { output } = await generateText({ ...asked, prompt: TEXT, output: Output.object({ schema }) });
      deepStrictEqual(output, CITY);
    },
    reasoning: callsTools(true, { reasoning: 'high' }),
    ...(unstored && {
      'reasoning, with `store: false`': callsTools(true, { reasoning: 'high', providerOptions: unstored }),
    }),
    errors: async () => {
      const failing = { ...asked, model: modelOf('status-429'), prompt: TEXT };
      await limited(generateText(failing));
      await limited(streamed(async (onError) => streamText({ ...failing, onError }).text));
    },
    'streams that break off': () =>
      rejects(
        streamed(async (onError) => streamText({ ...asked, model: modelOf('half'), prompt: TEXT, onError }).text),
        (error) => {
          if (codeOf(error) !== null) throw error;
          return true;
        },
      ),
    refusals: () =>
      rejects(generateText({ ...asked, model: modelOf(''), prompt: TEXT }), (error) => {
        if (codeOf(error) !== 'model_required') throw error;
        match(Object(error).message, REFUSAL);
        return true;
      }),
  };
}

function embeddingCases(modelOf: (id: string) => EmbeddingModel): Cases {
  return {
    embeddings: async () => {
      const asked = { model: modelOf('text-embedding-3-small'), values: ['a', 'bcd'], maxRetries: 0 };
      const { embeddings, usage } = await embedMany(asked);
      deepStrictEqual(embeddings, [
        [1, 0],
        [3, 1],
      ]);
      strictEqual(usage.tokens, 21);
    },
    errors: () => limited(embedMany({ model: modelOf('status-429'), values: ['a'], maxRetries: 0 })),
  };
}

const compatible = ({ url, apiKey, headers }: Endpoint) =>
  createOpenAICompatible({
    name: 'gateway',
    baseURL: `${url}/v1`,
    apiKey,
    headers,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });

const ofOpenAI = ({ url, apiKey, headers }: Endpoint) => createOpenAI({ baseURL: `${url}/v1`, apiKey, headers });

export const vercel: readonly OfficialClient[] = [
  {
    name: 'ai with @ai-sdk/openai',
    surfaces: {
      chat: (endpoint) => languageCases((id) => ofOpenAI(endpoint).chat(id), 'gpt-5'),
      responses: (endpoint) =>
        languageCases((id) => ofOpenAI(endpoint).responses(id), 'gpt-5', { openai: { store: false } }),
      embeddings: (endpoint) => embeddingCases((id) => ofOpenAI(endpoint).embedding(id)),
    },
    codeOf,
  },
  {
    name: 'ai with @ai-sdk/openai-compatible',
    surfaces: {
      chat: (endpoint) => languageCases((id) => compatible(endpoint).chatModel(id), 'llama-4'),
      embeddings: (endpoint) => embeddingCases((id) => compatible(endpoint).embeddingModel(id)),
    },
    codeOf,
  },
  {
    name: 'ai with @ai-sdk/anthropic',
    surfaces: {
      messages: ({ url, apiKey, headers }) =>
        languageCases((id) => createAnthropic({ baseURL: `${url}/v1`, apiKey, headers })(id), 'claude-sonnet-4-5'),
    },
    codeOf,
  },
];
