/** A gateway with ai-proxy in many configs, in front of providers that are fakes. */
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { MESSAGES_KEY, startMessagesProvider } from '../../../../test/ai/messages-provider.ts';
import { fixture } from '../../../../test/serve/fixture-plugin.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { startUpstream } from '../../../../test/serve/upstream.ts';

export const PATH = '/v1/chat/completions';

/** An operation of its own for each config; all paths but those of other surfaces are chat completions. */
function operation(config: object, before: readonly object[] = []): object {
  return {
    responses: { default: { description: 'any' } },
    requestBody: { content: { 'application/json': { schema: {} } } },
    'x-gw-middlewares': before,
    'x-gw-dispatch': { name: 'ai-proxy', config },
  };
}

const tells = (key: string) => ({ name: 'context-teller', config: { key } });

const chooses = (target: string) => ({
  name: 'cel',
  config: { expression: 'true', on_match: { set_context: { 'ai.target': target } } },
});

export interface AiRig {
  readonly gw: Gateway;
  readonly chat: FakeProvider;
  readonly messages: FakeProvider;
  readonly local: FakeProvider;
  post(path: string, body?: object | string, init?: RequestInit): Promise<Response>;
  /** The data of the events of a stream, which must begin. */
  events(path: string, body: object): Promise<readonly string[]>;
  /** The exit code of the gateway. */
  close(): Promise<number>;
}

export async function startAi(): Promise<AiRig> {
  const [chat, messages, local] = await Promise.all([
    startChatProvider(),
    startMessagesProvider(),
    startChatProvider(null),
  ]);
  const silent = await startUpstream(() => {});
  const onChat = { provider: 'provider_chat', api_key: 'env://CHAT_KEY', base_url: chat.url };
  const onMessages = { provider: 'provider_messages', api_key: 'env://MESSAGES_KEY', base_url: messages.url };
  const onLocal = { provider: 'provider_local', base_url: local.url };
  const nowhere = { provider: 'provider_chat', base_url: 'http://127.0.0.1:1' };
  const routed = {
    routes: [
      { pattern: 'gpt-[0-9]*', ...onChat, deny: ['*-preview'] },
      { pattern: 'claude-?', ...onMessages, allow: ['claude-[!0-3]'] },
    ],
  };
  const named = { targets: { one: onChat, two: onMessages }, default_target: 'two' };
  const configs: Record<string, object> = {
    [PATH]: operation({ ...onChat, timeout: 2 }),
    '/messages': operation({ ...onMessages, max_tokens: 100, timeout: 2 }),
    '/no-limit': operation(onMessages),
    '/local': operation(onLocal),
    '/limited': operation({ ...onChat, max_tokens: 100 }),
    '/uncounted': operation({ ...onChat, stream_usage: false }),
    '/routed': operation(routed),
    '/routed-or': operation({ ...routed, ...onLocal }),
    '/named': operation({ ...named, max_tokens: 9 }),
    '/named/one': operation(named, [chooses('one')]),
    '/named/none': operation({ ...named, max_tokens: 9 }, [chooses('three')]),
    '/fallback': operation({
      ...onChat,
      timeout: 1,
      max_tokens: 9,
      fallback: [nowhere, { ...onMessages, deny: ['only-*'] }],
    }),
    '/tells-prompt': operation(onChat, [tells('ai.prompt_tokens')]),
    '/tells-model': operation({ ...onMessages, max_tokens: 9 }, [tells('ai.model')]),
    '/tells-cached': operation({ ...onMessages, max_tokens: 9 }, [tells('ai.cached_tokens')]),
    '/nowhere': operation(nowhere),
    '/v1/embeddings': operation(onChat),
    '/v1/messages': operation({ ...onMessages, timeout: 2 }),
    '/beta/v1/messages': {
      ...operation(onMessages),
      parameters: [{ name: 'anthropic-beta', in: 'header', schema: { type: 'string' } }],
    },
    '/limited/v1/messages': operation({ ...onMessages, max_tokens: 9 }),
    '/chat/v1/messages': operation(onChat),
    '/fallback/v1/messages': operation({ ...nowhere, provider: 'provider_messages', fallback: [onChat, onMessages] }),
    '/local/v1/embeddings': operation(onLocal),
    '/messages/v1/embeddings': operation(onMessages),
    '/fallback/v1/embeddings': operation({ ...nowhere, fallback: [onMessages, onChat] }),
    '/header': operation({ ...onLocal, api_key: 'env://CHAT_KEY', auth: { header: 'X-Api-Token' } }),
    '/query': operation({ ...onLocal, api_key: 'env://CHAT_KEY', auth: { query: 'key' } }),
    '/wrong-key-messages': operation({ ...onMessages, api_key: 'env://CHAT_KEY', max_tokens: 9 }),
  };
  const catalogs: Record<string, object> = {
    '/v1/models': operation({
      ...onLocal,
      base_url: chat.url,
      api_key: 'env://CHAT_KEY',
      routes: [
        { pattern: 'gpt-*', ...onChat, deny: ['*-preview'] },
        { pattern: 'o*', ...onChat, deny: ['gpt-*', '*-preview'] },
      ],
      targets: { messages: onMessages },
    }),
    '/failing/v1/models': operation({
      ...onChat,
      models_timeout_ms: 100,
      targets: {
        nowhere,
        silent: { ...nowhere, base_url: silent.url },
        wrong: { ...onMessages, api_key: 'env://CHAT_KEY' },
      },
    }),
  };
  const both = (each: object) => ({ get: each, post: each });
  const paths = Object.fromEntries([
    ...Object.entries(configs).map(([path, each]) => [path, { post: each }]),
    ...Object.entries(catalogs).map(([path, each]) => [path, both(each)]),
  ]);
  const document = { openapi: '3.1.0', info: { title: 'models', version: '1' }, paths };
  const gw = await startGateway(await compileSpec(document, ['ai-proxy', 'cel'], [fixture('context-teller')]), {
    env: { CHAT_KEY, MESSAGES_KEY },
  });
  const post: AiRig['post'] = (path, asked = ASKED, init = {}) =>
    fetch(`${gw.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer of-the-client' },
      body: typeof asked === 'string' ? asked : JSON.stringify(asked),
      ...init,
    });
  return {
    gw,
    chat,
    messages,
    local,
    post,
    async events(path, asked) {
      const response = await post(path, { ...ASKED, ...asked, stream: true });
      const type = response.headers.get('content-type');
      if (response.status !== 200 || type !== 'text/event-stream') throw new Error(`${response.status} ${type}`);
      return dataOf(await response.text());
    },
    async close() {
      const code = await gw.stop();
      await Promise.all([chat, messages, local, silent].map((each) => each.close()));
      return code;
    },
  };
}

export const ASKED = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Guten Tag, schöne Welt' }] };

export function dataOf(text: string): readonly string[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data);
}

export interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly { index: number; function: { arguments: string } }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object | null;
  readonly error?: object;
}

export const chunksOf = (data: readonly string[]): readonly Chunk[] =>
  data.filter((each) => each !== '[DONE]').map((each): Chunk => JSON.parse(each));

export const textOf = (chunks: readonly Chunk[]) =>
  chunks.map(({ choices }) => choices?.[0]?.delta.content ?? '').join('');

export const last = (provider: FakeProvider) => provider.seen.at(-1);
