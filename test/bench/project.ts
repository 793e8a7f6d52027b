/** The API that is measured: each operation adds one thing to the one before it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BODY = '{"id":42,"title":"The Left Hand of Darkness","author":"Ursula K. Le Guin","price":12.5,"in_stock":true}';
const key = {
  name: 'apikey-auth',
  config: { keys: [{ key: 'bench-key', id: 'bench', name: 'bench', scopes: ['read'] }] },
};
const rate = { name: 'rate-limit', config: { quota: 1_000_000_000, window: 60 } };
const cors = { name: 'cors', config: { allowed_origins: ['https://shop.example'] } };
const graphql = { name: 'graphql', config: { cost: { max: 10_000 } } };
const mock = { name: 'mock', config: { body: BODY } };

function operation(dispatch: object, middlewares: object[] = [], more: object = {}) {
  const secured = middlewares.includes(key) ? { security: [{ key: [] }] } : {};
  return {
    responses: { 200: { description: 'OK' } },
    'x-gw-dispatch': dispatch,
    ...(middlewares.length > 0 ? { 'x-gw-middlewares': middlewares } : {}),
    ...secured,
    ...more,
  };
}

const ITEM = {
  type: 'object',
  required: ['book', 'count'],
  properties: {
    book: { type: 'integer' },
    count: { type: 'integer', minimum: 1, maximum: 99 },
    note: { type: 'string', maxLength: 200 },
  },
};
const ORDER = {
  type: 'object',
  required: ['customer', 'items'],
  additionalProperties: false,
  properties: {
    customer: { type: 'string', minLength: 1, maxLength: 64 },
    email: { type: 'string', format: 'email' },
    items: { type: 'array', minItems: 1, items: ITEM },
  },
};

/** What is measured beside the plain operations. */
export interface Project {
  /** Operations that no request goes to. Default 0. */
  readonly otherRoutes?: number;
}

/** Plugins of the document. */
export const BENCH_PLUGINS = ['mock', 'http-upstream', 'apikey-auth', 'rate-limit', 'cors', 'graphql'];

/** The document of the API; the upstream answers at `upstream`. */
export function benchDocument(upstream: string, { otherRoutes = 0 }: Project = {}) {
  const proxy = { name: 'http-upstream', config: { url: upstream } };
  const requestBody = { required: true, content: { 'application/json': { schema: ORDER } } };
  const anyJson = { required: true, content: { 'application/json': { schema: { type: 'object' } } } };
  const others = Array.from({ length: otherRoutes }, (_, i) => [
    `/area-${i % 40}/{id}/things-${Math.floor(i / 40)}/{thing}`,
    { get: operation(mock, [], { parameters: [pathParameter('id'), pathParameter('thing')] }) },
  ]);
  return {
    openapi: '3.1.0',
    info: { title: 'Bench', version: '1' },
    'x-gw-mcp': { enabled: true },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    paths: {
      '/mock': { get: operation(mock, [], { operationId: 'mock' }) },
      '/mock-key': { get: operation(mock, [key]) },
      '/mock-rate': { get: operation(mock, [rate]) },
      '/mock-cors': { get: operation(mock, [cors]) },
      '/mock-graphql': { post: operation(mock, [graphql], { requestBody: anyJson }) },
      '/mock-post': { post: operation(mock, [], { requestBody: anyJson }) },
      '/proxy': { get: operation(proxy, [], { operationId: 'proxied' }) },
      '/key': { get: operation(proxy, [key]) },
      '/guarded': { get: operation(proxy, [key, rate, cors]) },
      '/bytes/{name}': { get: operation(proxy, [], { parameters: [pathParameter('name')] }) },
      '/bytes': { post: operation(proxy, [], { requestBody: { content: { 'application/octet-stream': {} } } }) },
      '/orders': { post: operation(proxy, [], { requestBody }) },
      ...Object.fromEntries(others),
    },
  };
}

/** Writes gw.yaml and the document. */
export function writeProject(dir: string, upstream: string, project: Project): void {
  mkdirSync(join(dir, 'specs'), { recursive: true });
  writeFileSync(join(dir, 'specs', 'bench.json'), JSON.stringify(benchDocument(upstream, project)));
  const plugins = BENCH_PLUGINS.map((name) => `  ${name}: {}\n`);
  writeFileSync(join(dir, 'gw.yaml'), `specs: specs\nplugins:\n${plugins.join('')}`);
}

function pathParameter(name: string) {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}

/** A wrk script that posts an order of about so many bytes. */
export function postScript(bytes: number): string {
  const item = { book: 42, count: 2, note: 'x'.repeat(60) };
  const items = Array.from({ length: Math.max(1, Math.round(bytes / (JSON.stringify(item).length + 1))) }, () => item);
  const body = JSON.stringify({ customer: 'Ada Lovelace', email: 'ada@example.org', items });
  return jsonScript(body);
}

/** A wrk script that posts this JSON. */
export function jsonScript(body: string): string {
  return `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = [[${body}]]\n`;
}

/** A wrk script that calls the tool; `session`: its id, for a revision that has them. */
export function toolScript(name: string, session: string | null): string {
  const revision = session === null ? '2026-07-28' : '2025-11-25';
  const version = 'io.modelcontextprotocol/protocolVersion';
  const client = { 'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' } };
  const _meta = { [version]: revision, ...client, 'io.modelcontextprotocol/clientCapabilities': {} };
  const params = { name, arguments: {}, ...(session === null ? { _meta } : {}) };
  const headers = {
    ...{ Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': revision },
    ...(session === null ? { 'Mcp-Method': 'tools/call', 'Mcp-Name': name } : { 'Mcp-Session-Id': session }),
  };
  const lines = Object.entries(headers).map(([header, value]) => `wrk.headers["${header}"] = "${value}"\n`);
  return jsonScript(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })) + lines.join('');
}

/** A wrk script that asks a GraphQL server for a list of things and what is in them. */
export function graphqlScript(): string {
  const query =
    'query Shop($first: Int!) { shop { name books(first: $first) { id title author { name born } ...Price } } } fragment Price on Book { price { amount currency } }';
  return jsonScript(JSON.stringify({ query, operationName: 'Shop', variables: { first: 20 } }));
}

export interface NginxServer {
  readonly listen: number;
  /** Directives of `location /`, of `http` and of `server`. */
  readonly location: string;
  readonly http?: string;
  readonly server?: string;
  readonly tls?: boolean;
  /** Into a file. */
  readonly accessLog?: boolean;
}

/** nginx as the upstream, and as the proxy that is the control; one worker each. */
export function nginxConfig(
  dir: string,
  { listen, location, http = '', server = '', tls = false, accessLog = false }: NginxServer,
): string {
  return `daemon off; master_process off; worker_processes 1; pid ${dir}/nginx-${listen}.pid; error_log ${dir}/nginx-${listen}.log error;
events { worker_connections 4096; }
http {
  access_log ${accessLog ? `${dir}/access-${listen}.log` : 'off'}; keepalive_requests 100000000; default_type application/json;
  client_body_temp_path ${dir}/t; proxy_temp_path ${dir}/t; fastcgi_temp_path ${dir}/t; uwsgi_temp_path ${dir}/t; scgi_temp_path ${dir}/t;
  client_max_body_size 20m; client_body_buffer_size 1m;
  ${http}
  server { listen 127.0.0.1:${listen}${tls ? ' ssl http2' : ''}; ${server} location / { ${location} } }
}
`;
}

/** What the upstream answers with. */
export const UPSTREAM_ANSWER = `return 200 '${BODY}';`;

/** Bodies of downloads and uploads. */
export const BODY_SIZES = [1_000, 100_000, 10_000_000] as const;

/** nginx serves the files of `bytes/`, and answers an upload when it has read all of it. */
export function bytesOf(dir: string, listen: number): string {
  return `location /bytes/ { root ${dir}; sendfile on; open_file_cache max=10; }
    location = /bytes { proxy_pass http://127.0.0.1:${listen}/; client_body_buffer_size 11m; }`;
}

/** A wrk script that uploads so many bytes. */
export function uploadScript(bytes: number): string {
  return `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/octet-stream"\nwrk.body = string.rep("x", ${bytes})\n`;
}
