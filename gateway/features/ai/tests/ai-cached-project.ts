/** Operations of the AI gateway behind `ai-cache`, with two consumers, and providers that are fakes. */
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { MESSAGES_KEY, startMessagesProvider } from '../../../../test/ai/messages-provider.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';

export const ENV = {
  ...{ CHAT_KEY, MESSAGES_KEY, HASH_KEY: 'a key of sixteen characters' },
  ...{ ANN_KEY: 'the-key-of-ann', BOB_KEY: 'the-key-of-bob' },
};

export interface CachedProviders {
  readonly chat: FakeProvider;
  readonly messages: FakeProvider;
  close(): Promise<void>;
}

export async function startProviders(): Promise<CachedProviders> {
  const [chat, messages] = await Promise.all([startChatProvider(), startMessagesProvider()]);
  return {
    chat,
    messages,
    close: async () => {
      await Promise.all([chat.close(), messages.close()]);
    },
  };
}

export const auth = {
  name: 'apikey-auth',
  config: {
    keys: [
      { key: 'env://ANN_KEY', id: 'ann' },
      { key: 'env://BOB_KEY', id: 'bob' },
    ],
  },
};

export const cached = (config: object = {}) => ({ name: 'ai-cache', config });

export const onChat = ({ chat }: CachedProviders) => ({
  provider: 'provider_chat',
  base_url: chat.url,
  api_key: 'env://CHAT_KEY',
});

export const onMessages = ({ messages }: CachedProviders) => ({
  provider: 'provider_messages',
  base_url: messages.url,
  api_key: 'env://MESSAGES_KEY',
  max_tokens: 99,
});

/** An operation, by its middlewares. */
export function operation(target: object, middlewares: readonly object[]) {
  return {
    post: {
      responses: { default: { description: 'any' } },
      requestBody: { content: { 'application/json': { schema: {} } } },
      'x-gw-middlewares': middlewares,
      ...(middlewares.includes(auth) ? { security: [{ key: [] }] } : {}),
      'x-gw-dispatch': { name: 'ai-proxy', config: { ...target, timeout: 5 } },
    },
  };
}

const PLUGINS = [
  ...[
    'ai-proxy',
    'ai-cache',
    'ai-prompt-guard',
    'ai-response-guard',
    'ai-prompt-template',
    'ai-cost-tracker',
    'ai-token-limit',
  ],
  ...['apikey-auth', 'cel', 'rate-limit', 'mock'],
];

export function aiArtifact(paths: object): Promise<Uint8Array> {
  const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } };
  return compileSpec({ openapi: '3.1.0', info: { title: 'models', version: '1' }, paths, components }, PLUGINS);
}

export async function startCached(paths: object, args: readonly string[] = []): Promise<Gateway> {
  return startGateway(await aiArtifact(paths), { env: ENV, args: [...args] });
}

export const ask = (content: string, more: object = {}) => ({
  model: 'gpt-5',
  messages: [{ role: 'user', content }],
  ...more,
});

export interface Told {
  readonly status: number;
  /** `Cache-Status`. */
  readonly says: string | null;
  readonly headers: Headers;
  readonly text: string;
}

export async function post(
  gw: Gateway,
  path: string,
  body: object,
  { key = ENV.ANN_KEY, headers = {} }: { key?: string | null; headers?: object } = {},
): Promise<Told> {
  const response = await fetch(gw.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === null ? {} : { 'x-api-key': key }), ...headers },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    says: response.headers.get('cache-status'),
    headers: response.headers,
    text: await response.text(),
  };
}
