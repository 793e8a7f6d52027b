/** The REST API as the commands call it. */
import { createParser } from './server-sent-events.ts';

/** Characters of all pages of one list: far more than any has, and less than memory. */
const MAX_LIST = 64 << 20;

/** A problem document, or what stands for one where there is no answer. */
export class ApiError extends Error {
  /** 0 where the server did not answer. */
  readonly status: number;
  readonly problem: Problem | null;

  constructor(message: string, status: number, problem: Problem | null = null, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.problem = problem;
  }
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly request_id?: string;
  readonly errors?: readonly Readonly<Record<string, unknown>>[];
}

export interface RequestOptions {
  /** Default: GET. */
  readonly method?: string;
  /**
   * Parameters of the query; those that are undefined are left out. Default: none.
   *
   * @example { name: 'shop', limit: 20 }
   */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /**
   * Sent as the body, in JSON. Default: no body.
   *
   * @example { name: 'shop' }
   */
  readonly json?: unknown;
  /**
   * Of `json`. Default: `application/json`.
   *
   * @example 'application/merge-patch+json'
   */
  readonly contentType?: string;
  /** Sent as the body, in place of `json`: what uploads are. Default: none. */
  readonly form?: FormData;
  /**
   * Further headers. Default: none.
   *
   * @example { 'idempotency-key': crypto.randomUUID() }
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Ends the request. Default: it ends by itself.
   *
   * @example AbortSignal.timeout(10_000)
   */
  readonly signal?: AbortSignal;
}

export interface ApiOptions {
  /**
   * URL of the control plane, without a trailing slash.
   *
   * @example 'https://control.example.com'
   */
  readonly server: string;
  /**
   * An API token, or the administrator's. Undefined: requests carry none, and only `/health` answers.
   *
   * @example process.env.GW_TOKEN
   */
  readonly token: string | undefined;
  /** What requests go by. Default: the runtime's `fetch`. */
  readonly fetch?: typeof fetch;
}

export class Api {
  readonly server: string;
  readonly #token: string | undefined;
  readonly #send: typeof fetch;

  constructor({ server, token, fetch: send = fetch }: ApiOptions) {
    this.server = server;
    this.#token = token;
    this.#send = send;
  }

  /** The JSON of the answer; null where it has none. Throws ApiError for anything but success. */
  async json<T>(path: string, options: RequestOptions = {}): Promise<T> {
    const response = await this.response(path, options);
    const text = await response.text();
    return JSON.parse(text || 'null');
  }

  /** All items of a list, page after page, or the first `limit` of them. */
  async list<T>(
    path: string,
    { query = {}, ...options }: RequestOptions = {},
    limit = Number.POSITIVE_INFINITY,
  ): Promise<T[]> {
    const items: T[] = [];
    let read = 0;
    let next: string | null = this.#url(path, { ...query, limit: Math.min(limit, 200) });
    while (next !== null && items.length < limit) {
      const response: Response = await this.#fetch(next, options);
      const text = await response.text();
      read += text.length;
      if (read > MAX_LIST) throw new ApiError(`the server lists more than ${MAX_LIST} characters`, response.status);
      const page: T[] = JSON.parse(text);
      items.push(...page);
      next = this.#nextPage(response);
    }
    return items.slice(0, limit);
  }

  /** The token goes to no other server than the one that was named. */
  #nextPage({ headers, status }: Response): string | null {
    const link = /<([^>]*)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1];
    if (link === undefined) return null;
    const next = URL.parse(link, this.server);
    if (next?.origin === new URL(this.server).origin) return next.href;
    throw new ApiError('the server names a next page that is not its own', status);
  }

  response(path: string, { query = {}, ...options }: RequestOptions = {}): Promise<Response> {
    return this.#fetch(this.#url(path, query), options);
  }

  /** Server-sent events, until the server or the signal ends them. */
  async *events(path: string, signal?: AbortSignal): AsyncGenerator<{ readonly event: string; readonly data: string }> {
    const response = await this.response(path, {
      headers: { accept: 'text/event-stream' },
      ...(signal ? { signal } : {}),
    });
    const parser = createParser();
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      yield* parser(decoder.decode(chunk, { stream: true }));
    }
  }

  #url(path: string, query: NonNullable<RequestOptions['query']>): string {
    const url = new URL(this.server + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url.href;
  }

  async #fetch(
    url: string,
    { method = 'GET', json, contentType, form, headers, signal }: RequestOptions,
  ): Promise<Response> {
    const body = form ?? (json === undefined ? undefined : JSON.stringify(json));
    let response: Response;
    try {
      response = await this.#send(url, {
        method,
        redirect: 'error',
        headers: {
          accept: 'application/vnd.gw.v1+json, application/problem+json, */*;q=0.5',
          ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
          ...(json === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(
        `${this.server} does not answer (${reasonOf(error)}): is gw-control running, and is --server right?`,
        0,
        null,
        { cause: error },
      );
    }
    if (response.ok) return response;
    throw await failureOf(response);
  }
}

async function failureOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  if (response.headers.get('content-type')?.startsWith('application/problem+json')) {
    const problem: Problem = JSON.parse(text);
    return new ApiError(problem.detail, response.status, problem);
  }
  return new ApiError(
    `the server answered ${response.status} without a problem document: is it gw-control?`,
    response.status,
  );
}

/** Why there was no answer, in the words of who knows it. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  if (cause instanceof Error) return 'code' in cause && cause.message === '' ? String(cause.code) : cause.message;
  return String(cause);
}
