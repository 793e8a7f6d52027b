/** A store as one config describes it: requests to it become hand-offs. */

import type { Exchange, HandOff, JsonObject, Upstream } from '../../../kit.ts';
import { bucketOf, keyPath, keyPathOf } from './object-path.ts';
import { Signer } from './signer.ts';
import { NO_QUERY, type StoreQuery, storeQuery } from './store-query.ts';
import { type StoreAddress, storeRequest } from './store-request.ts';
import { awsStore, isHostLabel, type StoreSettings, storeSettings } from './store-settings.ts';

/** Results by their numbers in sdk/ABI.md. */
const NO_BUCKET = -1;
const NO_KEY = -2;
const BAD_QUERY = -3;

export interface StoreUpstreams {
  /** Upstream of the config's `endpoint`; undefined if unset. */
  readonly endpoint: Upstream | undefined;
  openUpstream(url: string): Upstream;
}

export class ObjectStore {
  readonly #settings: StoreSettings;
  readonly #upstream: Upstream;
  readonly #url: URL;
  readonly #signer: Signer;
  /** Path of the key that takes the place of one that is not there. */
  readonly #fallback: string | null;

  private constructor(settings: StoreSettings, upstream: Upstream, url: URL) {
    this.#settings = settings;
    this.#upstream = upstream;
    this.#url = url;
    this.#signer = new Signer(settings);
    this.#fallback = settings.fallbackKey === undefined ? null : keyPath(settings.fallbackKey);
  }

  /** Throws if the config cannot be used. */
  static open(config: JsonObject, { endpoint, openUpstream }: StoreUpstreams): ObjectStore {
    const settings = storeSettings(config);
    const url = settings.endpoint ?? awsStore(settings.region);
    return new ObjectStore(settings, endpoint ?? openUpstream(url), new URL(url));
  }

  /** Returns a negative number if bucket, key or query is malformed. */
  handOff(exchange: Exchange, named: { readonly bucket: string; readonly key: string }): HandOff | number {
    const bucket = bucketOf(named.bucket);
    if (bucket === null) return NO_BUCKET;
    const key = keyPathOf(named.key);
    if (key === null) return NO_KEY;
    const query = storeQuery(exchange.query);
    if (query === null) return BAD_QUERY;
    const object = this.#request(exchange, bucket, key, query);
    if (this.#fallback === null || exchange.method !== 'GET') return object;
    return { ...object, fallback: this.#request(exchange, bucket, this.#fallback, NO_QUERY) };
  }

  #request(exchange: Exchange, bucket: string, key: string, query: StoreQuery): HandOff {
    const inHost = !this.#settings.pathStyle && isHostLabel(bucket);
    const path = inHost ? `/${key}` : `/${bucket}/${key}`;
    const target = { signer: this.#signer, address: this.#address(inHost ? bucket : null), exchange, query };
    return {
      upstream: this.#upstream,
      path: query.text === '' ? path : `${path}?${query.text}`,
      timeoutMs: this.#settings.timeoutMs,
      compose: (request) => storeRequest(request, target),
    };
  }

  #address(bucket: string | null): StoreAddress {
    const { protocol, host } = this.#url;
    const secure = protocol === 'https:';
    if (bucket === null) return { authority: host, origin: undefined, secure };
    const authority = `${bucket}.${host}`;
    return { authority, origin: `${protocol}//${authority}`, secure };
  }
}
