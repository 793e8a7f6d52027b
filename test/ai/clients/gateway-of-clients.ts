/** A gateway with each surface before each protocol of providers, behind a key, as docs/ai.md says. */
import { filesPaths, IDS_KEY } from '../../serve/ai-files-project.ts';
import { compileSpec, type Gateway, startGateway } from '../../serve/gateway.ts';
import { CHAT_KEY, startChatProvider } from '../chat-provider.ts';
import { MESSAGES_KEY, startMessagesProvider } from '../messages-provider.ts';
import { startRealtimeProvider } from '../realtime-provider.ts';
import type { Endpoint } from './official-client.ts';

export const PROTOCOLS = ['provider_chat', 'provider_messages', 'provider_local'] as const;
type ProtocolName = (typeof PROTOCOLS)[number];

export const SHOP_KEY = 'shop-key-0123456789';
const KEYED = { name: 'apikey-auth', config: { keys: [{ key: 'env://SHOP_KEY', id: 'shop' }] } };
/** For clients that send their key as a token. */
const BEARER = {
  name: 'apikey-auth',
  config: { header_name: 'Authorization', keys: [{ key: 'env://SHOP_BEARER', id: 'shop' }] },
};

export interface ClientRig {
  readonly gw: Gateway;
  /** In front of `/v1`. */
  urlOf(protocol: ProtocolName): string;
  /**
   * The fakes themselves, without a gateway: that of provider_messages for messages, that of sessions for realtime, that of
   * provider_chat for the others.
   */
  readonly fakes: { readonly chat: Endpoint; readonly messages: Endpoint; readonly realtime: Endpoint };
  /** The exit code of the gateway. */
  close(): Promise<number>;
}

export async function startClientRig(): Promise<ClientRig> {
  const fakes = await Promise.all([
    startChatProvider(),
    startMessagesProvider(),
    startChatProvider(null),
    startRealtimeProvider(),
  ]);
  const [chat, messages, local, realtime] = fakes;
  const configs: Record<ProtocolName, object> = {
    provider_chat: { provider: 'provider_chat', api_key: 'env://CHAT_KEY', base_url: chat.url },
    provider_messages: {
      provider: 'provider_messages',
      api_key: 'env://MESSAGES_KEY',
      base_url: messages.url,
      max_tokens: 4096,
    },
    provider_local: { provider: 'provider_local', base_url: local.url },
  };
  const operation = (config: object, keyed: object = KEYED) => ({
    responses: { default: { description: 'any' } },
    'x-gw-middlewares': [keyed],
    'x-gw-dispatch': { name: 'ai-proxy', config },
  });
  const asked = (config: object, keyed = KEYED) => ({
    post: { ...operation(config, keyed), requestBody: { content: { 'application/json': { schema: {} } } } },
  });
  const paths: Record<string, object> = {};
  for (const name of PROTOCOLS) {
    for (const surface of ['chat/completions', 'responses', 'embeddings', 'messages']) {
      paths[`/${name}/v1/${surface}`] = asked(configs[name]);
    }
    paths[`/${name}/v1/models`] = { get: operation(configs[name]) };
    paths[`/${name}/v1/realtime`] = { get: operation({ ...configs[name], base_url: realtime.url }) };
    const files = { ...configs[name], files: { id_key: 'env://IDS_KEY' } };
    Object.assign(paths, Object.fromEntries(filesPaths(`/${name}`, files, [KEYED])));
  }
  const { post } = asked(configs.provider_messages, BEARER);
  for (const surface of ['chat/completions', 'messages']) {
    paths[`/bearer/v1/${surface}`] = { post: { ...post, security: [{ token: [] }] } };
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'clients', version: '1' },
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        token: { type: 'http', scheme: 'bearer' },
      },
    },
    security: [{ key: [] }],
    paths,
  };
  const artifact = await compileSpec(document, ['ai-proxy', 'apikey-auth']);
  const gw = await startGateway(artifact, {
    env: { CHAT_KEY, MESSAGES_KEY, IDS_KEY, SHOP_KEY, SHOP_BEARER: `Bearer ${SHOP_KEY}` },
  });
  return {
    gw,
    urlOf: (protocol) => `${gw.url}/${protocol}`,
    fakes: {
      chat: { url: chat.url, apiKey: CHAT_KEY, headers: {} },
      messages: { url: messages.url, apiKey: MESSAGES_KEY, headers: {} },
      realtime: { url: realtime.url, apiKey: CHAT_KEY, headers: {} },
    },
    async close() {
      const code = await gw.stop();
      await Promise.all(fakes.map((each) => each.close()));
      return code;
    },
  };
}
