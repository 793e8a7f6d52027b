/** Where requests can go: what the config says of a provider, ready to be called. */
import type { JsonObject } from '../../../artifact/format.ts';
import { CircuitBreaker } from '../../../egress/breaker.ts';
import type { HeaderList } from '../../../exchange.ts';
import { get } from '../../../spec/json.ts';
import { Glob } from './glob.ts';

export const PROVIDERS = ['provider_chat', 'provider_messages', 'provider_local'] as const;
export type Provider = (typeof PROVIDERS)[number];

const BASE_URLS: Readonly<Record<Provider, string>> = {
  provider_chat: 'https://api.openai.com',
  provider_messages: 'https://api.anthropic.com',
  provider_local: 'http://localhost:11434',
};
const CONVENTIONS = { provider_chat: 'bearer', provider_messages: 'api_key', provider_local: 'bearer' } as const;
/** The revision of the messages protocol that is spoken here. */
const MESSAGES_VERSION = '2023-06-01';

export class Target {
  readonly provider: Provider;
  readonly baseUrl: string;
  /** Requests carry them, credentials among them. */
  readonly headers: HeaderList;
  readonly breaker: CircuitBreaker;
  /** Name and value, encoded, or empty. */
  readonly #query: string;
  readonly #prefix: string;
  readonly #allow: readonly Glob[] | null;
  readonly #deny: readonly Glob[];

  constructor(config: JsonObject, breakers: Map<string, CircuitBreaker>) {
    this.provider = providerOf(config);
    this.baseUrl = baseUrlOf(config);
    this.#prefix = versioned(this.baseUrl);
    const { headers, query } = credentialsOf(config, this.provider);
    this.headers =
      this.provider === 'provider_messages' ? ['anthropic-version', MESSAGES_VERSION, ...headers] : headers;
    this.#query = query;
    this.#allow = globsOf(config['allow']);
    this.#deny = globsOf(config['deny']) ?? [];
    this.breaker = breakers.get(this.baseUrl) ?? new CircuitBreaker();
    breakers.set(this.baseUrl, this.breaker);
  }

  /** Whether its catalog has the model. */
  permits(model: string): boolean {
    if (this.#deny.some((glob) => glob.matches(model))) return false;
    return this.#allow === null || this.#allow.some((glob) => glob.matches(model));
  }

  /** `path`: behind the version, such as `/chat/completions`, without a query; `query`: encoded, or empty. */
  url(path: string, query = ''): string {
    const queries = [query, this.#query].filter((each) => each !== '').join('&');
    return `${this.#prefix}${path}${queries === '' ? '' : `?${queries}`}`;
  }
}

export function providerOf(config: JsonObject): Provider {
  const provider = PROVIDERS.find((each) => each === config['provider']);
  if (provider === undefined) throw new Error('provider is none that is known');
  return provider;
}

export function baseUrlOf(config: JsonObject): string {
  const { base_url: url } = config;
  return typeof url === 'string' ? url : BASE_URLS[providerOf(config)];
}

/** A base URL names its version, or means the first (docs/decisions.md#ai-targets). */
function versioned(baseUrl: string): string {
  const base = baseUrl.replace(/\/+$/, '');
  return /\/v\d[^/]*(\/|$)/.test(URL.parse(base)?.pathname ?? '') ? base : `${base}/v1`;
}

/** What a header can have; a secret that is none is not quoted. */
const KEY = /^[\x21-\x7e]+$/;

function credentialsOf(config: JsonObject, provider: Provider): { headers: HeaderList; query: string } {
  const { api_key: key, auth = CONVENTIONS[provider] } = config;
  if (typeof key !== 'string' || key === '') return { headers: [], query: '' };
  if (!KEY.test(key)) throw new Error('api_key has characters that no key has');
  if (auth === 'bearer') return { headers: ['authorization', `Bearer ${key}`], query: '' };
  if (auth === 'api_key') return { headers: ['x-api-key', key], query: '' };
  const [header, parameter] = [get(auth, 'header'), get(auth, 'query')];
  if (typeof header === 'string') return { headers: [header.toLowerCase(), key], query: '' };
  return { headers: [], query: `${encodeURIComponent(String(parameter))}=${encodeURIComponent(key)}` };
}

/** Null where there are none. */
function globsOf(value: JsonObject[string] | undefined): readonly Glob[] | null {
  return Array.isArray(value) && value.length > 0 ? value.map((each) => new Glob(String(each))) : null;
}
