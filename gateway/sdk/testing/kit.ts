/** Types of the testing kit: its whole surface except `testPlugin` itself. */
import type { ClientCertificate, JsonObject, State } from '@gw/gateway/plugin-test-options';

/** Header names in any case; several values of one name as a list. */
export type HeaderRecord = { readonly [name: string]: string | readonly string[] };

/** How far a plugin may go: limits of `gw serve`, which tests may narrow. */
export interface KitLimits {
  /**
   * CPU milliseconds a call. Default: 25.
   *
   * @example 5
   */
  readonly cpuMs?: number;
  /**
   * Bytes of memory an instance. Default: 16 MiB.
   *
   * @example 1024 * 1024
   */
  readonly memoryBytes?: number;
  /**
   * Instances that exist at once. Default: 2000.
   *
   * @example 1 // what one request leaves behind would be met by the next
   */
  readonly instances?: number;
  /**
   * Bytes of memory of all instances with waiting calls; past it they are answered with 503. Default: 256 MiB.
   *
   * @example 1024 * 1024
   */
  readonly waitingBytes?: number;
  /**
   * Calls that may wait for an instance; past it they are answered with 503. Default: 10,000.
   *
   * @example 0
   */
  readonly queue?: number;
}

export interface KitOptions {
  /**
   * Limits of calls and instances. Default: those of `gw serve`.
   *
   * @example { cpuMs: 5 }
   */
  readonly limits?: KitLimits;
  /**
   * Store of counters, nonces and caches. Default: a MemoryState of the kit's own, on the clock below.
   *
   * @example { ...new MemoryState(), rateLimits: { take: () => Promise.reject(new StateUnavailable('away')) } }
   */
  readonly state?: State;
  /**
   * Milliseconds since the epoch, for rate limits and caches. Default: the system's.
   *
   * @example () => clock.ms
   */
  readonly now?: () => number;
  /**
   * Connects to real servers. Default: no connection is made; HTTP calls are answered by `httpCalls` of the request, and
   * all others are refused.
   *
   * @example true
   */
  readonly network?: boolean;
}

/** An HTTP call that a plugin may make, and the answer that it gets. */
export interface HttpStub {
  /** Default: any method. */
  readonly method?: string;
  /**
   * Absolute URL. Without a query, it matches any query.
   *
   * @example 'https://tenants.example/v1/tenants/acme'
   */
  readonly url: string;
  /** Default: 200. */
  readonly status?: number;
  /** Default: none, or the content type of `json`. */
  readonly headers?: HeaderRecord;
  /** Default: empty. */
  readonly body?: string;
  /** The body as JSON, instead of `body`. */
  readonly json?: unknown;
  /** The call fails: CALL_FAILED, CALL_TIMEOUT, CALL_REFUSED, CALL_TOO_LARGE or CALL_NO_ROOM. Default: it is answered. */
  readonly fails?: 'failed' | 'timeout' | 'refused' | 'too-large' | 'no-room';
}

/** An HTTP call that a plugin has made. */
export interface RecordedHttpCall {
  readonly method: string;
  readonly url: string;
  /** By lower-case name; several values joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A test's request; members that it leaves out have their defaults. */
export interface RequestInit {
  /** Default: `GET`. */
  readonly method?: string;
  /**
   * Path and query. Default: `/`.
   *
   * @example '/books/7?lang=en'
   */
  readonly path?: string;
  /**
   * Default: none.
   *
   * @example { 'x-name': 'Ann', accept: ['text/html', 'application/json'] }
   */
  readonly headers?: HeaderRecord;
  /**
   * Default: no body.
   *
   * @example JSON.stringify({ title: 'Emma' })
   */
  readonly body?: string | Uint8Array;
  /** The client asks for this protocol, by HTTP/1.1. Default: no upgrade. */
  readonly upgrade?: 'websocket';
  /** Address of the client. Default: `192.0.2.1`. */
  readonly clientIp?: string;
  /**
   * The operation that the router found. Default: none.
   *
   * @example { path: '/books/{id}', operationId: 'getBook', params: { id: '7' } }
   */
  readonly operation?: {
    /** Path template. */
    readonly path: string;
    /** Default: none. */
    readonly operationId?: string;
    /** Path parameters, decoded. Default: none. */
    readonly params?: Readonly<Record<string, string>>;
    /** Path parameters as the client sent them. Default: those above, percent-encoded. */
    readonly sentParams?: Readonly<Record<string, string>>;
  };
  /**
   * The client's certificate in its TLS handshake; fields that are left out are empty, and it does not expire. Default:
   * no certificate.
   *
   * @example { commonName: 'shop', dnsNames: ['shop.example.com'] }
   */
  readonly clientCertificate?: Partial<ClientCertificate>;
  /**
   * Context values of earlier plugins. Default: empty.
   *
   * @example { 'ai.policy': 'strict' }
   */
  readonly context?: Readonly<Record<string, string>>;
  /**
   * HTTP calls that the plugin may make for this request. A call that none matches makes the test fail
   * (`UnstubbedHttpCall`). Of several that match, each answers once, in order, and the last goes on. Default: an empty list.
   *
   * @example [{ url: 'https://tenants.example/v1/tenants/acme', json: { plan: 'gold' } }]
   */
  readonly httpCalls?: readonly HttpStub[];
}

export interface HookRequest extends RequestInit {
  /**
   * The plugin's config, without the defaults of its schema, which are filled in. Default: `{}`.
   *
   * @example { quota: 1, window: 60 }
   */
  readonly config?: JsonObject;
}

export interface ResponseRequest extends HookRequest {
  /**
   * The upstream's answer.
   *
   * @example { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }
   */
  readonly response: {
    readonly status: number;
    /** Default: none. */
    readonly headers?: HeaderRecord;
    /** Default: no body. */
    readonly body?: string;
  };
}

export interface Answered {
  readonly status: number;
  /** By lower-case name; several values joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LogLine {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
}

export interface HookResult {
  readonly outcome: 'continue' | 'answered' | 'handed-off';
  /** The answer for the client; null if the plugin did not answer. */
  readonly answer: Answered | null;
  /** The answer's problem document, if it is one. */
  readonly problem: Readonly<Record<string, unknown>> | null;
  /** Response headers staged for whatever the answer will be. */
  readonly staged: Readonly<Record<string, string>>;
  /** The request's headers as later plugins and the upstream see them. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** The request's query as they see it, without the `?`; undefined if absent. */
  readonly query: string | undefined;
  /** The request's body as they see it; null if absent. */
  readonly requestBody: string | null;
  /** Bytes past which the gateway would refuse the body; null if the plugin has set no limit. */
  readonly bodyLimit: number | null;
  /** Values that plugins have set so far. */
  readonly context: Readonly<Record<string, string>>;
  /** Hand-off of the request by a dispatcher; null without one. */
  readonly handOff: {
    readonly upstream: string;
    readonly path: string;
    readonly timeoutMs: number;
    /** Set if the request becomes a WebSocket; bytes of a message, and milliseconds (0: no limit). */
    readonly webSocket?: { readonly idleTimeoutMs: number; readonly maxMessageBytes: number };
  } | null;
  /** After `on_response`: the response to be sent. */
  readonly response: Answered;
  /** Log lines of the plugin in this call. */
  readonly logs: readonly LogLine[];
  /** HTTP calls that it made, in order; empty with `network`. */
  readonly httpCalls: readonly RecordedHttpCall[];
  /** Stubs of the request that no call used. */
  readonly unusedStubs: readonly HttpStub[];
}

/**
 * A hook, with its input.
 *
 * @example { hook: 'onRequest', request: { path: '/books' } }
 */
export type HookCall =
  | { readonly hook: 'onRequest' | 'dispatch'; readonly request: HookRequest }
  | { readonly hook: 'onResponse'; readonly request: ResponseRequest };

/** A plugin that has taken a config. */
export interface BoundConfig {
  /** The plugin wants the whole body of responses with this config. */
  readonly buffersResponse: boolean;
  /** Lets its instances go. */
  close(): void;
}

/** A plugin on the gateway's runtime. Each call binds the config anew; instances are shared by equal configs. */
export interface PluginKit {
  onRequest(request: HookRequest): Promise<HookResult>;
  onResponse(request: ResponseRequest): Promise<HookResult>;
  dispatch(request: HookRequest): Promise<HookResult>;
  call(call: HookCall): Promise<HookResult>;
  /** The same call twice, with the memory of the first left for the second: unlike in a gateway. */
  twiceInSameMemory(call: HookCall): Promise<readonly [HookResult, HookResult]>;
  /** Passes chunks through the chunk hooks of a direction; resolves to their output. */
  stream(direction: 'request' | 'response', chunks: readonly string[], request?: HookRequest): Promise<string>;
  /**
   * Rejects if the schema or the plugin refuses the config.
   *
   * @example await assert.rejects(kit.bind({ quota: 0 }), /schema/)
   */
  bind(config?: JsonObject): Promise<BoundConfig>;
  /** Ends the runtime; no call may follow. */
  close(): void;
}
