/** An upstream: base URL, pooled connections through the guard, mutual TLS, circuit breaker. Made at load. */
import { createSecureContext, rootCertificates } from 'node:tls';
import { APP_UPSTREAM } from '../artifact/app-upstream.ts';
import type { JsonObject } from '../artifact/format.ts';
import type { Upstream } from '../hand-off.ts';
import { isObject, type Obj } from '../spec/json.ts';
import { CircuitBreaker } from './breaker.ts';
import { createConnector } from './connector.ts';
import { EgressGuard } from './guard.ts';
import { ConnectionPool, type PoolOptions } from './http1/connection-pool.ts';
import type { Http1Request } from './http1/request-head.ts';
import type { ResponseHandler } from './http1/response-handler.ts';
import type { UpstreamCalls } from './upstream-calls.ts';

/** The config of an upstream is not usable; stops the load (exit 1). */
export class UpstreamError extends Error {}

/** Reads a PEM file of `tls.*`, confined as `file://` secrets are (docs/decisions.md#secrets-resolved). */
export type ReadPem = (path: string) => string;

export interface UpstreamOptions {
  readonly guard: EgressGuard;
  readonly readPem: ReadPem;
  /** `--allow-plaintext-upstream`, or dev mode. */
  readonly allowPlaintext: boolean;
  /** `--app-port`: port of this sidecar's app; undefined outside of sidecars. */
  readonly appPort?: number | undefined;
  /** Counts calls for clients. */
  readonly calls: UpstreamCalls;
}

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_MS = 60_000;
/** Idle time of connections to hosts that clients may name: each has its own. */
const OTHERS_IDLE_MS = 5_000;
const LOOPBACK = '127.0.0.1';

export class HttpUpstream implements Upstream {
  readonly name: string;
  readonly url: URL;
  /** `host[:port]`, for the `Host` header. */
  readonly authority: string;
  /** Path of the base URL, without a slash at its end. */
  readonly basePath: string;
  readonly breaker = new CircuitBreaker();
  readonly calls: UpstreamCalls;
  readonly #pool: ConnectionPool;
  /** Pools of other hosts of the same service, by origin; each is dropped when its last connection has closed. */
  readonly #others = new Map<string, ConnectionPool>();
  readonly #poolOptions: PoolOptions;

  /** `connectTimeoutMs`: for a connection, with TLS. */
  constructor(url: URL, tls: Obj | undefined, connectTimeoutMs: number, options: UpstreamOptions) {
    this.name = url.origin + url.pathname;
    this.url = url;
    this.calls = options.calls;
    this.authority = url.host;
    this.basePath = url.pathname.replace(/\/+$/, '');
    const secureContext = tls ? clientContext(tls, options.readPem) : undefined;
    this.#poolOptions = {
      connect: createConnector({
        guard: options.guard,
        timeoutMs: connectTimeoutMs,
        ...(secureContext ? { secureContext } : {}),
      }),
      idleMs: IDLE_MS,
    };
    // A WebSocket begins as a request of HTTP.
    this.#pool = new ConnectionPool(new URL(url.href.replace(/^ws/, 'http')), this.#poolOptions);
  }

  /** Sends a request, to another host of the same service if it names an origin. Throws InvalidRequest. */
  dispatch(request: Http1Request, handler: ResponseHandler): void {
    const { origin } = request;
    if (origin === undefined) return this.#pool.dispatch(request, handler);
    const pool = this.#others.get(origin) ?? this.#poolOf(origin);
    pool.dispatch(request, handler);
    if (!pool.isEmpty) this.#others.set(origin, pool);
  }

  #poolOf(origin: string): ConnectionPool {
    const emptied = () => void this.#others.delete(origin);
    return new ConnectionPool(new URL(origin), { ...this.#poolOptions, idleMs: OTHERS_IDLE_MS, emptied });
  }

  /** Closes idle connections; those in use end with their requests. */
  close(): void {
    this.#pool.close();
    for (const pool of this.#others.values()) pool.close();
  }
}

function clientContext(tls: Obj, readPem: ReadPem) {
  const pem = (field: string) => {
    const path = tls[field];
    return typeof path === 'string' && path !== '' ? readPem(path) : undefined;
  };
  const [cert, key, ca] = [pem('client_cert'), pem('client_key'), pem('ca')];
  if ((cert === undefined) !== (key === undefined)) {
    throw new UpstreamError('tls.client_cert and tls.client_key belong together: give both or neither');
  }
  return createSecureContext({
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
  });
}

/** All upstreams of one loaded artifact; equal URL and TLS settings share connections and breaker. */
export class Upstreams {
  readonly #options: UpstreamOptions;
  readonly #open = new Map<string, HttpUpstream>();

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** Throws UpstreamError: neither http(s) nor ws(s), plaintext that is not allowed, PEM files that do not read. */
  open(text: string, config: JsonObject): HttpUpstream {
    const tls = isObject(config['tls']) ? config['tls'] : undefined;
    const timeout = connectTimeoutOf(config);
    const key = JSON.stringify([text, tls ?? null, timeout]);
    const known = this.#open.get(key);
    if (known) return known;
    const upstream =
      text === APP_UPSTREAM
        ? openApp(timeout, this.#options)
        : new HttpUpstream(parseUpstream(text, this.#options.allowPlaintext), tls, timeout, this.#options);
    this.#open.set(key, upstream);
    return upstream;
  }

  /** Closes idle connections; those in use end with their requests. */
  close(): void {
    for (const upstream of this.#open.values()) upstream.close();
  }
}

/** Milliseconds: `connect_timeout` of the config, or its `timeout` within a limit. */
function connectTimeoutOf({ timeout, connect_timeout: connect }: JsonObject): number {
  if (typeof connect === 'number') return connect * 1000;
  return typeof timeout === 'number' ? Math.min(timeout * 1000, CONNECT_TIMEOUT_MS) : CONNECT_TIMEOUT_MS;
}

/**
 * Only this address and port can be reached, without any network between (docs/decisions.md#app-upstream): no option
 * need open it.
 */
function openApp(timeoutMs: number, options: UpstreamOptions): HttpUpstream {
  if (options.appPort === undefined)
    throw new UpstreamError(
      `${APP_UPSTREAM} is the app of a sidecar, and this gateway is not a sidecar: start with --app-port, or name another upstream`,
    );
  const guard = new EgressGuard({ allowInternal: false, allow: [LOOPBACK] });
  return new HttpUpstream(new URL(`http://${LOOPBACK}:${options.appPort}`), undefined, timeoutMs, {
    ...options,
    guard,
  });
}

function parseUpstream(text: string, allowPlaintext: boolean): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new UpstreamError('an upstream URL is not a valid URL');
  }
  const name = url.origin + url.pathname;
  if (url.username !== '' || url.password !== '') {
    throw new UpstreamError(`upstream ${name} holds credentials in its URL: use a header or an authentication plugin`);
  }
  if (url.protocol === 'http:' || url.protocol === 'ws:') {
    if (!allowPlaintext) {
      const secure = url.protocol === 'ws:' ? 'wss' : 'https';
      throw new UpstreamError(
        `upstream ${name} is plaintext: use ${secure}://, or allow it with --allow-plaintext-upstream`,
      );
    }
  } else if (url.protocol !== 'https:' && url.protocol !== 'wss:') {
    throw new UpstreamError(`upstream ${name} is not http://, https://, ws:// or wss://`);
  }
  return url;
}
