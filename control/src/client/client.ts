/** A client of the REST API: operations by their ids, with the types of their inputs and answers. */
import { EventParser } from '@gw/gateway/server-sent-events';
import { ApiError, errorOf, reasonOf } from './api-error.ts';
import { nextLink } from './next-link.ts';
import type { Answer, AnyInput, EventsId, Input, Item, ListId, OperationId, StreamEvent } from './operation-types.ts';
import { OPERATION_PATHS } from './paths.gen.ts';

/** Characters of all pages of one list: far more than any has, and less than memory. */
const MAX_LIST = 64 << 20;
/** Items of one page: the most that the server takes. */
const PAGE = 200;

export interface ClientOptions {
  /**
   * URL of the control plane, without a trailing slash. Default: none, paths alone, for pages that it served itself.
   *
   * @example 'https://control.example.com'
   */
  readonly server?: string;
  /**
   * An API token, or the administrator's; a function is asked before each request. Undefined: requests carry none, and
   * only `system.health` answers.
   *
   * @example process.env.GW_TOKEN
   */
  readonly token: string | undefined | (() => string | undefined);
  /** Function that sends requests. Default: the runtime's `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
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
  readonly signal?: AbortSignal | undefined;
}

export interface ListOptions extends CallOptions {
  /** Items at most. Default: all. */
  readonly limit?: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** `query.cursor` of the next page; null after the last. */
  readonly next: string | null;
}

export interface Versioned<T> {
  readonly value: T;
  /** Null for an operation whose answer has no ETag. */
  readonly etag: string | null;
}

/** The input is optional if all its members are. */
type Given<Id extends OperationId, Options> =
  Record<never, never> extends Input<Id>
    ? [input?: Input<Id>, options?: Options]
    : [input: Input<Id>, options?: Options];

/** Methods throw ApiError for anything but success. */
export class ControlClient {
  /** As given; empty if no server was given. */
  readonly server: string;
  readonly #token: ClientOptions['token'];
  readonly #send: typeof fetch;

  constructor({ server = '', token, fetch: send = (...given) => fetch(...given) }: ClientOptions) {
    this.server = server;
    this.#token = token;
    this.#send = send;
  }

  /**
   * Returns the JSON of the answer; undefined if it has no body.
   *
   * @example await client.call('projects.create', { body: { name: 'shop' } })
   */
  call<Id extends OperationId>(id: Id, ...given: Given<Id, CallOptions>): Promise<Answer<Id>>;
  async call(id: OperationId, input: AnyInput = {}, options: CallOptions = {}): Promise<unknown> {
    return (await this.#read(id, input, options)).value;
  }

  /** As `call`; returns null if the resource does not exist (404). */
  find<Id extends OperationId>(id: Id, ...given: Given<Id, CallOptions>): Promise<Answer<Id> | null>;
  async find(id: OperationId, input: AnyInput = {}, options: CallOptions = {}): Promise<unknown> {
    try {
      return (await this.#read(id, input, options)).value;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  }

  /** As `call`, with the ETag for `if-match` of a change. */
  read<Id extends OperationId>(id: Id, ...given: Given<Id, CallOptions>): Promise<Versioned<Answer<Id>>>;
  read(id: OperationId, input: AnyInput = {}, options: CallOptions = {}): Promise<Versioned<unknown>> {
    return this.#read(id, input, options);
  }

  /** Returns the answer with its body unread, as downloads need. */
  response<Id extends OperationId>(id: Id, ...given: Given<Id, CallOptions>): Promise<Response>;
  response(id: OperationId, input: AnyInput = {}, options: CallOptions = {}): Promise<Response> {
    return this.#fetch(id, input, options);
  }

  /** Returns one page of a list. */
  page<Id extends ListId>(id: Id, ...given: Given<Id, CallOptions>): Promise<Page<Item<Id>>>;
  async page(id: OperationId, input: AnyInput = {}, options: CallOptions = {}): Promise<Page<unknown>> {
    return (await this.#page(id, input, options)).page;
  }

  /**
   * Returns all items of a list, page after page, or the first `limit` of them.
   *
   * @example await client.list('deployments.list', { params: { id } }, { limit: 1 })
   */
  list<Id extends ListId>(id: Id, ...given: Given<Id, ListOptions>): Promise<Item<Id>[]>;
  async list(id: OperationId, input: AnyInput = {}, options: ListOptions = {}): Promise<unknown[]> {
    const { limit = Number.POSITIVE_INFINITY, ...rest } = options;
    const query = { limit: Math.min(limit, PAGE), ...input.query };
    const items: unknown[] = [];
    let read = 0;
    for (let cursor: string | null | undefined; cursor !== null && items.length < limit; ) {
      const paged = cursor === undefined ? { ...input, query } : { ...input, query: { ...query, cursor } };
      const { page, size } = await this.#page(id, paged, rest);
      read += size;
      if (read > MAX_LIST) throw new ApiError(`the server lists more than ${MAX_LIST} characters`, 200);
      items.push(...page.items);
      cursor = page.next;
    }
    return items.slice(0, limit);
  }

  /** Returns server-sent events, until the server or the signal ends them. Resolves when the stream has begun. */
  events<Id extends EventsId>(id: Id, ...given: Given<Id, CallOptions>): Promise<AsyncIterable<StreamEvent<Id>>>;
  async events(id: OperationId, input: AnyInput = {}, options: CallOptions = {}): Promise<AsyncIterable<unknown>> {
    const headers = { accept: 'text/event-stream', ...options.headers };
    return eventsOf((await this.#fetch(id, input, { ...options, headers })).body);
  }

  /** Returns the answer of `GET /openapi`. */
  openapi(options: CallOptions = {}): Promise<Response> {
    return this.#request('GET', `${this.server}/openapi`, undefined, options);
  }

  async #read(id: OperationId, input: AnyInput, options: CallOptions): Promise<Versioned<unknown>> {
    const response = await this.#fetch(id, input, options);
    const text = await response.text();
    return { value: text === '' ? undefined : JSON.parse(text), etag: response.headers.get('etag') };
  }

  async #page(id: OperationId, input: AnyInput, options: CallOptions) {
    const response = await this.#fetch(id, input, options);
    const text = await response.text();
    const items: readonly unknown[] = JSON.parse(text);
    const base = response.url || this.server;
    const next = nextLink(response.headers.get('link'), base);
    // Only its cursor is used: the link itself is not followed.
    if (next && next.origin !== new URL(base).origin) {
      throw new ApiError('the server names a next page that is not its own', response.status);
    }
    return { page: { items, next: next?.searchParams.get('cursor') ?? null }, size: text.length };
  }

  #fetch(id: OperationId, { params = {}, query = {}, body, form }: AnyInput, options: CallOptions): Promise<Response> {
    const [method = '', template = ''] = OPERATION_PATHS[id].split(' ');
    const path = template.replaceAll(/\{([^}]*)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
    const search = new URLSearchParams(defined(query).map(([name, value]) => [name, String(value)])).toString();
    const url = `${this.server}${path}${search === '' ? '' : `?${search}`}`;
    if (form) return this.#request(method, url, formOf(form), options);
    if (body === undefined) return this.#request(method, url, undefined, options);
    // A PATCH is a merge patch (RFC 7396).
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return this.#request(method, url, JSON.stringify(body), {
      ...options,
      headers: { 'content-type': type, ...options.headers },
    });
  }

  async #request(
    method: string,
    url: string,
    body: string | FormData | undefined,
    { headers, signal }: CallOptions,
  ): Promise<Response> {
    const token = typeof this.#token === 'function' ? this.#token() : this.#token;
    let response: Response;
    try {
      response = await this.#send(url, {
        method,
        redirect: 'error',
        headers: {
          accept: 'application/vnd.gw.v1+json, application/problem+json, */*;q=0.5',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      const why = `${this.server || 'the control plane'} does not answer (${reasonOf(error)})`;
      throw new ApiError(`${why}: is gw-control running, and is --server right?`, 0, null, { cause: error });
    }
    if (response.ok) return response;
    throw await errorOf(response);
  }
}

/** Skips events whose data is not JSON. */
async function* eventsOf(body: Response['body']): AsyncGenerator<{ readonly event: string; readonly data: unknown }> {
  if (!body) return;
  const parser = new EventParser();
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    for (const { event, data } of parser.push(decoder.decode(chunk, { stream: true }))) {
      const value = data === null ? undefined : jsonOf(data);
      if (value !== undefined) yield { event, data: value };
    }
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Fields first: the server may refuse by them before it reads the file. */
function formOf({ file, ...fields }: NonNullable<AnyInput['form']>): FormData {
  const form = new FormData();
  for (const [name, value] of defined(fields)) form.append(name, value);
  if (file !== undefined) form.append('file', file);
  return form;
}

function defined<T>(members: Readonly<Record<string, T | undefined>>): [string, T][] {
  return Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}
