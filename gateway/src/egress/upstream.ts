/** An upstream: base URL, pooled connections through the guard, mutual TLS, circuit breaker. Made at load. */
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { APP_UPSTREAM } from '../artifact/app-upstream.ts';
import type { JsonObject } from '../artifact/format.ts';
import type { UpstreamPolicy } from '../artifact/upstream-policy.ts';
import type { Exchange } from '../exchange.ts';
import { type Problem, problem } from '../problems.ts';
import { isObject, type Obj } from '../spec/json.ts';
import { createConnector } from './connector.ts';
import { EgressGuard } from './guard.ts';
import { AddressHealth } from './health/address-health.ts';
import { ConnectionPool, type PoolOptions } from './http1/connection-pool.ts';
import type { Http1Request } from './http1/request-head.ts';
import type { ResponseHandler } from './http1/response-handler.ts';
import type { AddressSet } from './named/address-set.ts';
import type { DispatchTarget } from './named/dispatch-target.ts';
import { NamedUpstream } from './named/named-upstream.ts';
import type { UpstreamAddress } from './named/upstream-address.ts';
import type { UpstreamBindings } from './named/upstream-bindings.ts';
import { UpstreamError } from './named/upstream-error.ts';
import type { UpstreamCalls } from './upstream-calls.ts';

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
  /** Addresses of named upstreams. */
  readonly bindings: UpstreamBindings;
}

/** How a server is connected to, and what is known about it. */
interface ServerOptions extends Pick<UpstreamOptions, 'guard' | 'calls'> {
  /** For a connection, with TLS. */
  readonly connectTimeoutMs: number;
  /** Client certificate and roots. Default: the system's roots. */
  readonly secureContext?: SecureContext | undefined;
  /** Name in messages. Default: origin and path of the URL. */
  readonly name?: string;
  /** Default: its own. */
  readonly health?: AddressHealth;
}

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_MS = 60_000;
/** Idle time of connections to hosts that clients may name: each has its own. */
const OTHERS_IDLE_MS = 5_000;
const LOOPBACK = '127.0.0.1';

export class HttpUpstream implements DispatchTarget<HttpUpstream> {
  readonly name: string;
  readonly url: URL;
  /** `host[:port]`, for the `Host` header. */
  readonly authority: string;
  /** Path of the base URL, without a slash at its end. */
  readonly basePath: string;
  readonly health: AddressHealth;
  readonly calls: UpstreamCalls;
  readonly #pool: ConnectionPool;
  /** Pools of other hosts of the same service, by origin; each is dropped when its last connection has closed. */
  readonly #others = new Map<string, ConnectionPool>();
  readonly #poolOptions: PoolOptions;

  constructor(url: URL, { guard, calls, connectTimeoutMs, secureContext, name, health }: ServerOptions) {
    this.name = name ?? url.origin + url.pathname;
    this.url = url;
    this.calls = calls;
    this.health = health ?? new AddressHealth();
    this.authority = url.host;
    this.basePath = url.pathname.replace(/\/+$/, '');
    this.#poolOptions = {
      connect: createConnector({ guard, timeoutMs: connectTimeoutMs, ...(secureContext ? { secureContext } : {}) }),
      idleMs: IDLE_MS,
    };
    // A WebSocket begins as a request of HTTP.
    this.#pool = new ConnectionPool(new URL(url.href.replace(/^ws/, 'http')), this.#poolOptions);
  }

  choose({ clientIp }: Exchange, failed?: HttpUpstream): this | null {
    return failed === undefined && this.health.breaker.admits(clientIp) ? this : null;
  }

  unavailable({ clientIp }: Exchange): Problem {
    return problem('upstream-unavailable', 'The upstream has failed repeatedly and is given time to recover.', {
      headers: ['retry-after', String(this.health.breaker.retryAfter(clientIp))],
    });
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

/** All upstreams of one loaded artifact; equal URL (or name) and TLS settings share connections and breaker. */
export class Upstreams {
  readonly #options: UpstreamOptions;
  readonly #policies: Readonly<Record<string, UpstreamPolicy>>;
  readonly #open = new Map<string, HttpUpstream | NamedUpstream<HttpUpstream>>();
  /** Addresses of named upstreams; all configs that name one share their circuits. */
  readonly #sets = new Map<string, AddressSet>();

  /** `policies`: of named upstreams. Throws UpstreamError if one of them has no addresses. */
  constructor(options: UpstreamOptions, policies: Readonly<Record<string, UpstreamPolicy>> = {}) {
    options.bindings.require(Object.keys(policies));
    this.#options = options;
    this.#policies = policies;
  }

  /**
   * `text`: a URL, or the name of an upstream. Throws UpstreamError: neither http(s) nor ws(s), plaintext that is not
   * allowed, PEM files that do not read.
   */
  open(text: string, config: JsonObject): DispatchTarget<HttpUpstream> {
    const tls = isObject(config['tls']) ? config['tls'] : undefined;
    const timeout = connectTimeoutOf(config);
    const key = JSON.stringify([text, tls ?? null, timeout]);
    const known = this.#open.get(key);
    if (known) return known;
    const upstream = this.#opened(text, tls, timeout);
    this.#open.set(key, upstream);
    return upstream;
  }

  #opened(text: string, tls: Obj | undefined, connectTimeoutMs: number): HttpUpstream | NamedUpstream<HttpUpstream> {
    const { guard, calls, readPem, allowPlaintext } = this.#options;
    if (text === APP_UPSTREAM) return openApp(connectTimeoutMs, this.#options);
    const policy = Object.hasOwn(this.#policies, text) ? this.#policies[text] : undefined;
    const secureContext = tls ? clientContext(tls, readPem) : undefined;
    const server = { guard, calls, connectTimeoutMs, secureContext };
    if (policy === undefined) return new HttpUpstream(parseUpstream(text, allowPlaintext), server);
    const connect = (address: UpstreamAddress) =>
      new HttpUpstream(new URL(address.url), { ...server, name: `${text} at ${address.url}`, health: address });
    return new NamedUpstream(this.#setOf(text, policy), connect);
  }

  #setOf(name: string, policy: UpstreamPolicy): AddressSet {
    const set = this.#sets.get(name) ?? this.#options.bindings.open(name, policy);
    this.#sets.set(name, set);
    return set;
  }

  /** Closes idle connections; those in use end with their requests. */
  close(): void {
    for (const upstream of this.#open.values()) upstream.close();
    for (const set of this.#sets.values()) this.#options.bindings.close(set);
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
  const { calls, appPort } = options;
  return new HttpUpstream(new URL(`http://${LOOPBACK}:${appPort}`), { guard, calls, connectTimeoutMs: timeoutMs });
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
