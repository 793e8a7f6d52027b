/** A project whose operations are tools, and what speaks MCP to it by hand. */
import { compileSpec } from './gateway.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const KEYS = { keys: [{ key: 'k-alice', id: 'alice' }] };

const book = {
  type: 'object',
  required: ['id', 'title'],
  properties: { id: { type: 'integer' }, title: { type: 'string', minLength: 1 } },
};

/** `upstream`: what its operations are proxied to. */
export function toolsProject(upstream: string, settings: object = {}): Promise<Uint8Array> {
  const proxied = { 'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } } };
  const answer = (response: object, more: object = {}) => ({
    responses: { 200: { description: 'x', ...response } },
    ...more,
  });
  const keyed = {
    security: [{ key: [] }],
    'x-gw-middlewares': [{ name: 'apikey-auth', config: KEYS }],
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1.2.0' },
    'x-gw-mcp': { enabled: true, instructions: 'Books of a small shop.', ...settings },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    paths: {
      '/books/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        get: { operationId: 'getBook', summary: 'One book', ...answer(json(book)), ...proxied },
        put: {
          operationId: 'putBook',
          parameters: [
            {
              name: 'tags',
              in: 'query',
              explode: false,
              schema: { type: 'array', maxItems: 8, items: { type: 'string' } },
            },
            { name: 'X-Reason', in: 'header', schema: { type: 'string' } },
            { name: 'shelf', in: 'cookie', schema: { type: 'string' } },
          ],
          requestBody: {
            required: true,
            ...json({
              type: 'object',
              required: ['title'],
              properties: { title: { type: 'string', minLength: 1 }, price: { type: 'number' } },
            }),
          },
          responses: { 200: { description: 'x' } },
          ...proxied,
        },
      },
      '/books/{id}/cover': {
        get: {
          operationId: 'getCover',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          ...answer({ content: { 'image/png': {} } }),
          ...proxied,
        },
      },
      '/books': {
        get: { operationId: 'listBooks', ...answer(json({ type: 'array', items: book })), ...proxied },
        delete: { operationId: 'deleteAll', 'x-gw-mcp': { enabled: false }, ...proxied },
      },
      '/mine': { get: { operationId: 'listMine', ...answer({}), ...keyed, ...proxied } },
      '/slow': { get: { operationId: 'slow', ...answer({}), ...proxied } },
    },
  };
  return compileSpec(document, ['http-upstream', 'apikey-auth']);
}

export interface Sent {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where there is none. */
  readonly body: RpcBody | undefined;
}

/** A message of JSON-RPC, as far as tests look at it. */
interface RpcBody {
  readonly id?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly result?: {
    readonly protocolVersion?: string;
    readonly isError?: boolean;
    readonly content?: readonly unknown[];
    readonly [name: string]: unknown;
  };
}

const ACCEPT = 'application/json, text/event-stream';

/** Sends a message, or any text. */
export async function post(
  url: string,
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Sent> {
  const response = await fetch(`${url}/__gw/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: ACCEPT, ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** Headers of a new session. */
export async function openSession(url: string): Promise<Record<string, string>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const { headers } = await post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
}

/** Of all tools that a client with a session is offered, on one page. */
export async function toolNames(url: string): Promise<string[]> {
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, await openSession(url));
  return ((body?.result?.['tools'] ?? []) as { name: string }[]).map(({ name }) => name);
}
