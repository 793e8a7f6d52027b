/** The client `@anthropic-ai/sdk` of npm. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import {
  CALLS,
  type Cases,
  CITY,
  codeIn,
  type Endpoint,
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

const said: MessageParam = { role: 'user', content: TEXT };
const asked = { model: 'claude-sonnet-5', max_tokens: 100, messages: [said] };
const tools = TOOLS.map((name) => ({ name, input_schema: { ...SCHEMA, required: ['city'] } }));

function clientOf({ url, apiKey, headers }: Endpoint): Anthropic {
  return new Anthropic({ baseURL: url, apiKey, defaultHeaders: headers, maxRetries: 0 });
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

async function limited(asking: Promise<unknown>): Promise<void> {
  await rejects(asking, (error) => {
    if (!(error instanceof Anthropic.RateLimitError)) throw error;
    strictEqual(error.type, 'rate_limit_error');
    match(error.message, /planted/);
    return true;
  });
}

function messages(endpoint: Endpoint): Cases {
  const client = clientOf(endpoint).messages;
  const callsTools = (streams: boolean, more: object) => async () => {
    const turns: MessageParam[] = [said];
    const ask = () => {
      const request = { ...asked, ...more, tools, messages: turns };
      return streams ? client.stream(request).finalMessage() : client.create(request);
    };
    const called = await ask();
    const calls = called.content.filter((each) => each.type === 'tool_use');
    deepStrictEqual(
      calls.map(({ name, input }) => [name, input]),
      CALLS,
    );
    strictEqual(called.stop_reason, 'tool_use');
    const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: `of ${id}` }));
    turns.push({ role: 'assistant', content: called.content }, { role: 'user', content: results });
    const answered = await ask();
    ok(textOf(answered).includes(`of ${calls[1]?.id}`));
    turns.push({ role: 'assistant', content: answered.content }, said);
    strictEqual(textOf(await client.create({ ...asked, messages: turns })), TEXT);
  };
  return {
    chat: async () => {
      const message = await client.create({ ...asked, system: 'Be brief.' });
      strictEqual(textOf(message), TEXT);
      strictEqual(message.stop_reason, 'end_turn');
      strictEqual(message.usage.output_tokens, 8);
      strictEqual(message.usage.cache_read_input_tokens, 16);
    },
    stream: async () => {
      const message = await client.stream(asked).finalMessage();
      strictEqual(textOf(message), TEXT);
      strictEqual(message.usage.output_tokens, 8);
    },
    tools: callsTools(false, {}),
    'streamed tools': callsTools(true, {}),
    images: async () => {
      const content = [
        { type: 'text' as const, text: PICTURE_QUESTION },
        {
          type: 'image' as const,
          source: { type: 'base64' as const, media_type: 'image/png' as const, data: PICTURE },
        },
      ];
      match(textOf(await client.create({ ...asked, messages: [{ role: 'user', content }] })), PICTURE_ANSWER);
    },
    'structured output': async () => {
      const format = { type: 'json_schema' as const, schema: SCHEMA };
      const message = await client.parse({ ...asked, output_config: { format } });
      deepStrictEqual(JSON.parse(textOf(message)), CITY);
    },
    // What was thought goes back with the results of tools, as the protocol wants.
    reasoning: callsTools(true, {
      max_tokens: 4000,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'medium' },
    }),
    errors: async () => {
      await limited(client.create({ ...asked, model: 'status-429' }));
      await limited(client.stream({ ...asked, model: 'status-429' }).finalMessage());
    },
    'streams that break off': () => rejects(client.stream({ ...asked, model: 'half' }).finalMessage()),
    refusals: () =>
      rejects(client.create({ ...asked, model: '' }), (error) => {
        if (!(error instanceof Anthropic.BadRequestError)) throw error;
        deepStrictEqual([error.type, codeIn(error.error)], ['invalid_request_error', 'model_required']);
        match(error.message, REFUSAL);
        return true;
      }),
  };
}

const models = (endpoint: Endpoint) => listsShared(() => clientOf(endpoint).models.list());

export const anthropic: OfficialClient = {
  name: '@anthropic-ai/sdk',
  surfaces: { messages, models },
  codeOf: (error) => (error instanceof Anthropic.APIError ? codeIn(error.error) : null),
};
