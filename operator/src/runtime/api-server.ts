/** Requests to a Kubernetes API server, with the addresses and credentials of a kubeconfig or of the pod. */
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { Agent, type Dispatcher, request } from 'undici';
import { isRecord } from '../kube/kube-object.ts';
import { type RequestInfo, requestInfo } from '../kube/request-info.ts';

/** Answers other than 2xx; `reason` is the Status object's, such as `Conflict`. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  /** Seconds, from `Retry-After`. */
  readonly retryAfter: number | undefined;
  /** The Status object, if the answer has one. */
  readonly body: { readonly [name: string]: unknown } | undefined;
  constructor(
    status: number,
    reason: string,
    message: string,
    retryAfter?: number,
    body?: { readonly [name: string]: unknown },
  ) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfter = retryAfter;
    this.body = body;
  }
}

/** Reports whether an error resolves itself: somebody else wrote first, or the namespace is being deleted. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 409 || (error.status === 403 && error.message.includes('because it is being terminated'));
}

/** Called for every request once its response head arrives; `status` is 0 without a response. */
export type OnRequest = (info: RequestInfo, status: number) => void;

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: { readonly [name: string]: string | undefined };
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Additional headers, for servers behind the API server's proxy. */
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
  /** Milliseconds that `lines` waits for the next one; 0 for ever. Default: somewhat more than watches are silent. */
  readonly silenceMs?: number;
}

/** How long an ordinary request may take; a watch is bounded by the server instead. */
const REQUEST_TIMEOUT_MS = 30_000;
/** The server sends a bookmark a minute, so that a watch which is silent for longer has lost its connection. */
const WATCH_SILENCE_MS = 150_000;
const MAX_ERROR_BODY = 64 * 1024;

/** TLS settings of a connection to the server; headers are separate. */
interface Credentials {
  readonly ca: string | Buffer | undefined;
  readonly cert: string | Buffer | undefined;
  readonly key: string | Buffer | undefined;
  readonly servername: string | undefined;
  readonly rejectUnauthorized: boolean;
}

export class ApiServer {
  readonly #config: KubeConfig;
  readonly #server: string;
  readonly #onRequest: OnRequest | undefined;
  #agent: Agent | undefined;
  #agentFor = '';

  constructor(config: KubeConfig, onRequest?: OnRequest) {
    const server = config.getCurrentCluster()?.server;
    if (!server) throw new Error('the kubeconfig names no cluster: set KUBECONFIG, or run inside a pod');
    this.#config = config;
    this.#onRequest = onRequest;
    this.#server = server.replace(/\/$/, '');
  }

  /** Reads the config from `KUBECONFIG` or `~/.kube/config`, else from the pod's service account. */
  static fromDefault(onRequest?: OnRequest): ApiServer {
    const config = new KubeConfig();
    config.loadFromDefault();
    return new ApiServer(config, onRequest);
  }

  /** Returns the namespace of the kubeconfig's context, or of the pod. */
  get namespace(): string {
    return this.#config.getContextObject(this.#config.getCurrentContext())?.namespace ?? 'default';
  }

  /** Returns the parsed body of a 2xx answer. Throws ApiError on others. */
  async json(call: ApiRequest): Promise<unknown> {
    const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const answer = await this.#send(call, call.signal ? AbortSignal.any([call.signal, timeout]) : timeout, 0);
    const text = await answer.body.text();
    return text === '' ? undefined : JSON.parse(text);
  }

  /** The lines of a watch, until the server or the signal ends it. */
  async *lines(call: ApiRequest): AsyncGenerator<string> {
    const answer = await this.#send(call, call.signal, call.silenceMs ?? WATCH_SILENCE_MS);
    let rest = '';
    answer.body.setEncoding('utf8');
    for await (const chunk of answer.body) {
      rest += String(chunk);
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield line;
    }
    if (rest !== '') yield rest;
  }

  async close(): Promise<void> {
    await this.#agent?.destroy();
  }

  async #send(
    call: ApiRequest,
    signal: AbortSignal | undefined,
    bodyTimeout: number,
  ): Promise<Dispatcher.ResponseData> {
    // Read at every request: tokens of service accounts and of exec plugins are renewed while the operator runs.
    const options: RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    const url = new URL(this.#server + call.path);
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, value);
    const answer = await this.#counted(call, url, {
      method: call.method,
      dispatcher: await this.#dispatcher(options),
      headers: {
        ...call.headers,
        ...authorization(options),
        accept: call.accept ?? 'application/json',
        'user-agent': 'gw-operator',
        ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      bodyTimeout,
      ...(signal ? { signal } : {}),
    });
    if (answer.statusCode >= 200 && answer.statusCode < 300) return answer;
    throw await apiError(answer);
  }

  async #counted(
    call: ApiRequest,
    url: URL,
    options: Omit<Dispatcher.RequestOptions<null>, 'path' | 'origin'> & { dispatcher: Agent },
  ): Promise<Dispatcher.ResponseData> {
    const info = this.#onRequest && requestInfo(call.method, call.path, call.query?.['watch'] !== undefined);
    let status = 0;
    try {
      const answer = await request(url, options);
      status = answer.statusCode;
      return answer;
    } finally {
      if (info) this.#onRequest?.(info, status);
    }
  }

  /** Returns the connection pool, replaced when the credentials on disk have changed. */
  async #dispatcher(options: RequestOptions): Promise<Agent> {
    const credentials: Credentials = {
      ca: plain(options.ca),
      cert: plain(options.cert),
      key: plain(options.key),
      servername: options.servername,
      rejectUnauthorized: options.rejectUnauthorized ?? true,
    };
    const fingerprint = JSON.stringify([
      credentials.ca?.toString(),
      credentials.cert?.toString(),
      credentials.servername,
      credentials.rejectUnauthorized,
    ]);
    if (this.#agent && fingerprint === this.#agentFor) return this.#agent;
    const previous = this.#agent;
    const { ca, cert, key, servername, rejectUnauthorized } = credentials;
    this.#agent = new Agent({
      connect: {
        rejectUnauthorized,
        ...(ca ? { ca } : {}),
        ...(cert ? { cert } : {}),
        ...(key ? { key } : {}),
        ...(servername ? { servername } : {}),
      },
    });
    this.#agentFor = fingerprint;
    previous?.close().catch(() => undefined);
    return this.#agent;
  }
}

function plain(value: unknown): string | Buffer | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined;
}

function authorization(options: RequestOptions): { [name: string]: string } {
  if (options.auth) return { authorization: `Basic ${Buffer.from(options.auth).toString('base64')}` };
  const headers: { [name: string]: string } = {};
  if (isRecord(options.headers)) {
    for (const [name, value] of Object.entries(options.headers)) if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

async function apiError(answer: Dispatcher.ResponseData): Promise<ApiError> {
  const text = (await answer.body.text()).slice(0, MAX_ERROR_BODY);
  const after = Number(answer.headers['retry-after']);
  const retryAfter = Number.isFinite(after) && after > 0 ? after : undefined;
  try {
    const status: unknown = JSON.parse(text);
    if (isRecord(status) && typeof status['message'] === 'string') {
      return new ApiError(answer.statusCode, String(status['reason'] ?? ''), status['message'], retryAfter, status);
    }
  } catch {
    // Not a Status: a proxy's page or an empty body.
  }
  return new ApiError(
    answer.statusCode,
    '',
    `the API server answered ${answer.statusCode}: ${text.slice(0, 200)}`,
    retryAfter,
  );
}
