/** Headers of a copy: those that the request's upstream would get, without credentials. */

import {
  AUTH_PREFIX,
  addForwarded,
  type Exchange,
  type HeaderList,
  HOPS,
  holdsCredential,
  isObject,
  type JsonObject,
  traceparentOf,
} from '../../../kit.ts';
import { headerName, headersOf } from './target-settings.ts';

/**
 * Gateways that a copy counts as: one that leads back to its own gateway is copied there once or twice, and not ten times,
 * which with several mirrors in a chain would be thousands.
 */
const COPY_HOPS = 4;

export class CopiedHeaders {
  readonly #set: HeaderList;
  readonly #dropped: ReadonlySet<string>;
  readonly #hasCredentials: boolean;

  /** `config`: with the properties of `fire-and-forget`. Throws DeliverySettingsError. */
  constructor(config: JsonObject) {
    const { headers, forward_credentials: hasCredentials } = config;
    const { set, remove } = (isObject(headers) ? headers : {}) as JsonObject;
    const removed = (Array.isArray(remove) ? remove : []).map((name) => headerName(String(name), 'headers.remove'));
    this.#set = headersOf(set, 'headers.set');
    const names = this.#set.filter((_, i) => i % 2 === 0);
    this.#hasCredentials = hasCredentials === true;
    this.#dropped = new Set([...removed, ...names]);
  }

  of(exchange: Exchange): HeaderList {
    const forwarded: string[] = [];
    // Only a chain that a trusted proxy has sent tells of another client than the peer.
    addForwarded(forwarded, exchange, exchange.clientIp !== exchange.peer);
    const headers = forwarded.filter((_, i) => this.#passes(forwarded[i - (i % 2)] ?? ''));
    headers.push(...this.#set);
    return headers;
  }

  #passes(name: string): boolean {
    return (
      !this.#dropped.has(name) && (this.#hasCredentials || !(name.startsWith(AUTH_PREFIX) || holdsCredential(name)))
    );
  }
}

/** How far a copy of the request has come, and its trace. */
export function passingOf(exchange: Exchange): HeaderList {
  const traceparent = traceparentOf(exchange, null);
  const hops = [HOPS, String(exchange.hops + COPY_HOPS)];
  return traceparent === null ? hops : [...hops, 'traceparent', traceparent];
}
