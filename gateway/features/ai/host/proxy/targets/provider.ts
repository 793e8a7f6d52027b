/** Protocols of providers, and the base URLs of known ones. */
import type { JsonObject } from '../../../../kit.ts';

export const PROVIDERS = ['provider_chat', 'provider_messages', 'provider_local'] as const;
export type Provider = (typeof PROVIDERS)[number];

const BASE_URLS: Readonly<Record<Provider, string>> = {
  provider_chat: 'https://api.openai.com',
  provider_messages: 'https://api.anthropic.com',
  provider_local: 'http://localhost:11434',
};

export function providerOf(config: JsonObject): Provider {
  const provider = PROVIDERS.find((each) => each === config['provider']);
  if (provider === undefined) throw new Error('provider is not a known provider');
  return provider;
}

export function baseUrlOf(config: JsonObject): string {
  const { base_url: url } = config;
  return typeof url === 'string' ? url : BASE_URLS[providerOf(config)];
}
