/** A response cache between requests and an upstream of a test's making, on a clock of the test's own. */
import { expect } from 'vitest';
import { ResponseCache } from '../gateway/features/cache/host/response-cache.ts';
import type { HeaderRecord } from '../gateway/sdk/testing/kit.ts';
import { headerList, headerRecord, recordedExchange } from '../gateway/sdk/testing/recorder.ts';
import type { Exchange } from '../gateway/src/exchange.ts';
import { MemoryCacheStore } from '../gateway/src/state/memory-cache-store.ts';

export const START = Date.UTC(2026, 0, 1);
export const httpDate = (ms: number) => new Date(ms).toUTCString();

export interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: HeaderRecord;
  readonly partition?: string;
  readonly clientIp?: string;
  /** Headers that plugins between the cache and the upstream add. */
  readonly later?: HeaderRecord;
}

export interface Origin {
  readonly status?: number;
  readonly headers?: HeaderRecord;
  readonly body?: string;
}

export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What the upstream was asked; null where it was not. */
  readonly asked: { readonly headers: Readonly<Record<string, string>>; readonly query: string | undefined } | null;
}

export class Rig {
  readonly clock = { ms: START };
  readonly store = new MemoryCacheStore({ now: () => this.clock.ms });
  readonly cache: ResponseCache;
  admitted: readonly string[] = [];

  constructor(rules: object = {}) {
    this.cache = new ResponseCache(JSON.stringify(rules), {
      store: this.store,
      now: () => this.clock.ms,
      log: (message) => expect.fail(message),
    });
  }

  pass(seconds: number): this {
    this.clock.ms += seconds * 1000;
    return this;
  }

  exchange({ path = '/a', method = 'GET', headers = {}, clientIp = '192.0.2.1' }: Sent): Exchange {
    const exchange = recordedExchange({ method, path, clientIp, headers: { host: 'api.example', ...headers } });
    const { admitted } = this;
    exchange.operation = {
      path: '/{name}',
      operationId: undefined,
      api: 'api',
      admitted,
      paramNames: [],
      examples: null,
      streamed: null,
      inputs: null,
    };
    return exchange;
  }

  /** One request through the cache to an upstream that answers so. */
  async send(sent: Sent, origin: Origin = {}): Promise<Got> {
    const exchange = this.exchange(sent);
    let asked: Got['asked'] = null;
    let replaced = await this.cache.lookup(exchange, null, sent.partition ?? '');
    if (!replaced) {
      asked = { headers: headerRecord(exchange.headers), query: exchange.query };
      exchange.headers.push(...headerList(sent.later));
      exchange.response.status = origin.status ?? 200;
      exchange.response.headers = headerList({ date: httpDate(this.clock.ms), ...origin.headers });
      exchange.response.body = origin.body ?? 'body';
      replaced = await this.cache.settle(exchange);
    }
    await Promise.resolve();
    exchange.close();
    await new Promise((resolve) => setImmediate(resolve));
    const { answer } = exchange;
    if (!replaced || answer === null) {
      const body = Buffer.from(exchange.response.body ?? '').toString();
      return { status: exchange.response.status, headers: headerRecord(exchange.response.headers), body, asked };
    }
    if ('problem' in answer) return { status: answer.problem.status, headers: {}, body: '', asked };
    const body = Buffer.from(answer.body ?? '').toString();
    return { status: answer.status, headers: headerRecord(answer.headers ?? []), body, asked };
  }

  /** Whether a second, equal request after so many seconds is answered without the upstream. */
  async reuses(origin: Origin, after: number, sent: Sent = {}): Promise<boolean> {
    await this.send(sent, origin);
    return (await this.pass(after).send(sent, origin)).asked === null;
  }
}
