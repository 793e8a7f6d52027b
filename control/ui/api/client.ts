/** Calls of the REST API with the token of the session. */
import { expire, token } from '../session/session.ts';
import { errorOf, unreachable } from './problem.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** Path of the next page; null after the last. */
  readonly next: string | null;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface RequestOptions {
  readonly json?: unknown;
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Throws an ApiError for every answer that is none of success; one of 401 ends the session. */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const { json, form, headers, signal } = options;
  const body = json === undefined ? form : JSON.stringify(json);
  const response = await fetch(path, {
    method,
    credentials: 'omit',
    headers: {
      authorization: `Bearer ${token.value ?? ''}`,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable();
  });
  if (response.ok) return response;
  if (response.status === 401) expire();
  throw await errorOf(response);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send('GET', path, { signal })).json();
}

export async function list<T>(path: string, signal?: AbortSignal): Promise<Page<T>> {
  const response = await send('GET', path, { signal });
  return { items: await response.json(), next: nextOf(response.headers.get('link')) };
}

export async function post<T>(path: string, json: unknown): Promise<T> {
  return (await send('POST', path, { json })).json();
}

export async function put<T>(path: string, json: unknown, etag?: string | null): Promise<T> {
  return (await send('PUT', path, { json, headers: etag ? { 'if-match': etag } : {} })).json();
}

export async function upload<T>(path: string, form: FormData, etag?: string | null): Promise<T> {
  return (await send('POST', path, { form, headers: etag ? { 'if-match': etag } : {} })).json();
}

export async function remove(path: string): Promise<void> {
  await send('DELETE', path);
}

/** Asks for a file with the token, and has the browser save it. */
export async function download(path: string, filename: string): Promise<void> {
  const url = URL.createObjectURL(await (await send('GET', path)).blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = filename;
  link.click();
  URL.revokeObjectURL(url);
}

export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Path of `rel="next"` (RFC 8288); the origin is always this one. */
function nextOf(link: string | null): string | null {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link ?? '')?.[1];
  if (target === undefined) return null;
  const { pathname, search } = new URL(target, location.href);
  return pathname + search;
}
