/** One address of a target, with the credential for it. */

import { CircuitBreaker, get, type HeaderList, type JsonObject } from '../../../../kit.ts';
import { EndpointHealth } from './endpoint-health.ts';
import { baseUrlOf, type Provider, providerOf } from './provider.ts';

const CONVENTIONS = { provider_chat: 'bearer', provider_messages: 'api_key', provider_local: 'bearer' } as const;
/** The revision of the messages protocol that is spoken here. */
const MESSAGES_VERSION = '2023-06-01';

/**
 * State that the endpoints of one config share: a circuit breaker for each base URL, the rest for each credential
 * there.
 */
export class KnownEndpoints {
  readonly #breakers = new Map<string, CircuitBreaker>();
  readonly #healths = new Map<string, EndpointHealth>();

  healthOf(baseUrl: string, credential: string): EndpointHealth {
    const breaker = this.#breakers.get(baseUrl) ?? new CircuitBreaker();
    this.#breakers.set(baseUrl, breaker);
    const key = `${baseUrl} ${credential}`;
    const health = this.#healths.get(key) ?? new EndpointHealth(breaker);
    this.#healths.set(key, health);
    return health;
  }
}

export class Endpoint {
  readonly baseUrl: string;
  /** Name of the host alone: for logs, traces and labels. */
  readonly host: string;
  /** Requests carry them, credentials among them. */
  readonly headers: HeaderList;
  readonly weight: number;
  /** Null if the config has no price. */
  readonly price: number | null;
  readonly health: EndpointHealth;
  /** Name and value, encoded, or empty. */
  readonly #query: string;
  readonly #prefix: string;

  /** `config`: `provider`, `base_url`, `api_key`, `auth`, `weight`, `price`. */
  constructor(config: JsonObject, known: KnownEndpoints) {
    const provider = providerOf(config);
    this.baseUrl = baseUrlOf(config);
    this.host = URL.parse(this.baseUrl)?.hostname ?? '';
    this.#prefix = withVersion(this.baseUrl);
    const { headers, query } = credentialsOf(config, provider);
    this.headers = provider === 'provider_messages' ? ['anthropic-version', MESSAGES_VERSION, ...headers] : headers;
    this.#query = query;
    const { weight, price } = config;
    this.weight = typeof weight === 'number' ? weight : 1;
    this.price = typeof price === 'number' ? price : null;
    this.health = known.healthOf(this.baseUrl, [...headers, query].join(' '));
  }

  /** `path`: behind the version, such as `/chat/completions`, without a query; `query`: encoded, or empty. */
  url(path: string, query = ''): string {
    const queries = [query, this.#query].filter((each) => each !== '').join('&');
    return `${this.#prefix}${path}${queries === '' ? '' : `?${queries}`}`;
  }
}

/** A base URL names its version, or means the first (docs/decisions.md#ai-targets). */
function withVersion(baseUrl: string): string {
  const base = baseUrl.replace(/\/+$/, '');
  return /\/v\d[^/]*(\/|$)/.test(URL.parse(base)?.pathname ?? '') ? base : `${base}/v1`;
}

/** Characters of a header value; an invalid secret is not quoted. */
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
