/** What `npm run bench` measures: each row with the ones that do the same. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENVOY, ENVOY_MCP, type EnvoyForm } from './envoy.ts';
import type { Load } from './load.ts';
import { BODY_SIZES, graphqlScript, postScript, toolScript, uploadScript } from './project.ts';
import type { Server, Servers } from './servers.ts';

export interface Row extends Load {
  /** Names of the rows that do the same without gw: nginx, and Envoy where it is measured. */
  readonly nginx?: string;
  readonly envoy?: string;
  /** The row of bare sockets that its CPU time is compared with. Default: that of the proxy. */
  readonly floor?: string;
}

export type Rows = Readonly<Record<string, Row>>;

export const NGINX = 'nginx proxy';
export const SOCKETS = 'bare sockets, proxy';
export const SOCKET = 'bare socket, mock';
export const ENVOY_PLAIN = 'Envoy proxy';
export const QUERY = 'mock, POST of a GraphQL query';
export const KEY = 'proxied, key';
export const FULL = 'proxied, key + rate limit + CORS';

const ORIGIN = { Origin: 'https://shop.example' };
const GUARDED = { ...ORIGIN, 'X-API-Key': 'bench-key' };
const MCP = '/__gw/mcp';
/** HTTP/2 over TLS. */
const H2 = { tls: true, http2: true };

type RowOf = (server: Server, path: string, more?: Partial<Row> & { readonly tls?: boolean }) => Row;

export async function rowsOf(servers: Servers, seconds: number): Promise<Rows> {
  await servers.startUpstream();
  const row: RowOf = ({ port, pid }, path, { tls, ...more } = {}) => {
    return { url: `http${tls ? 's' : ''}://127.0.0.1:${port}${path}`, pid, seconds, nginx: NGINX, ...more };
  };
  const script = (name: string, text: string) => {
    const path = join(servers.dir, `${name}.lua`);
    writeFileSync(path, text);
    return path;
  };
  return {
    ...(await requests(servers, row)),
    ...(await bodies(servers, row, script)),
    ...(await tools(servers, row, script)),
  };
}

type ScriptOf = (name: string, text: string) => string;

async function requests(servers: Servers, row: RowOf): Promise<Rows> {
  const nginx = await servers.control();
  const gw = await servers.gateway({});
  const two = await servers.gateway({}, { args: ['--workers', '2'] });
  const logged = async (accessLog: 'file' | 'pipe') => row(await servers.gateway({}, { accessLog }), '/proxy');
  const mocks = { floor: SOCKET };
  return {
    [NGINX]: row(nginx, '/proxy'),
    [SOCKETS]: row(await servers.bareSockets('proxy'), '/proxy'),
    [SOCKET]: row(await servers.bareSockets('mock'), '/mock'),
    ...(await byEnvoy(servers, 'plain', (envoy) => ({ [ENVOY_PLAIN]: row(envoy, '/proxy') }))),
    ...(await byEnvoy(servers, 'wasm', (envoy) => ({
      'Envoy proxy, key in WebAssembly': row(envoy, '/proxy', { headers: GUARDED }),
    }))),
    ...(await byEnvoy(servers, 'own filters', (envoy) => ({
      'Envoy proxy, its key + rate limit + CORS': row(envoy, '/proxy', { headers: GUARDED }),
    }))),
    proxied: row(gw, '/proxy', { envoy: ENVOY_PLAIN }),
    [KEY]: row(gw, '/key', { headers: GUARDED, envoy: 'Envoy proxy, key in WebAssembly' }),
    [FULL]: row(gw, '/guarded', { headers: GUARDED, envoy: 'Envoy proxy, its key + rate limit + CORS' }),
    'proxied, 2 workers': row(two, '/proxy'),
    [`${FULL}, 2 workers`]: row(two, '/guarded', { headers: GUARDED }),
    'nginx proxy, access log to a file': row(await servers.control({ accessLog: true }), '/proxy'),
    'proxied, access log to a file': { ...(await logged('file')), nginx: 'nginx proxy, access log to a file' },
    'proxied, access log to a pipe': await logged('pipe'),
    mock: row(gw, '/mock', mocks),
    'mock + apikey-auth': row(gw, '/mock-key', { headers: GUARDED, ...mocks }),
    'mock + rate-limit': row(gw, '/mock-rate', mocks),
    'mock + cors': row(gw, '/mock-cors', { headers: ORIGIN, ...mocks }),
    'mock among 1,000 routes': row(await servers.gateway({ otherRoutes: 1000 }), '/mock', mocks),
    'mock, 2 workers': row(two, '/mock', mocks),
  };
}

async function bodies(servers: Servers, row: RowOf, script: ScriptOf): Promise<Rows> {
  const [nginx, nginxTls] = [await servers.control(), await servers.control({ tls: true })];
  const args = ['--max-body-size', '20000000'];
  const [gw, gwTls] = [await servers.gateway({}, { args }), await servers.gateway({}, { tls: true })];
  const rows: Record<string, Row> = {};
  const beside = (
    name: string,
    path: string,
    more: Partial<Row> & { readonly tls?: boolean },
    servers = [nginx, gw],
  ) => {
    const [control = nginx, measured = gw] = servers;
    rows[`${NGINX}, ${name}`] = row(control, path, { ...more, nginx: `${NGINX}, ${name}` });
    rows[`gw, ${name}`] = row(measured, path, { ...more, nginx: `${NGINX}, ${name}` });
  };
  for (const bytes of [100, 1_000, 100_000]) {
    beside(`validated POST of ${sizeOf(bytes)}`, '/orders', { script: script(`post-${bytes}`, postScript(bytes)) });
  }
  for (const bytes of BODY_SIZES) beside(`download of ${sizeOf(bytes)}`, `/bytes/${bytes}`, {});
  for (const bytes of BODY_SIZES) {
    beside(`upload of ${sizeOf(bytes)}`, '/bytes', { script: script(`upload-${bytes}`, uploadScript(bytes)) });
  }
  beside('TLS', '/proxy', { tls: true }, [nginxTls, gwTls]);
  beside('HTTP/2 over TLS', '/proxy', { ...H2, envoy: 'Envoy proxy, HTTP/2 over TLS' }, [nginxTls, gwTls]);
  return {
    ...rows,
    ...(await byEnvoy(servers, 'tls', (envoy) => ({ 'Envoy proxy, HTTP/2 over TLS': row(envoy, '/proxy', H2) }))),
  };
}

async function tools(servers: Servers, row: RowOf, script: ScriptOf): Promise<Rows> {
  const gw = await servers.gateway({});
  const query = script('graphql', graphqlScript());
  const session = await openSession(gw);
  const tool = (name: string, id: string | null) => script(`tool-${name}-${id ?? ''}`, toolScript(name, id));
  return {
    [QUERY]: row(gw, '/mock-post', { script: query }),
    'mock + graphql': row(gw, '/mock-graphql', { script: query }),
    'mock, called by MCP': row(gw, MCP, { script: tool('mock', null) }),
    'mock, called by MCP in a session': row(gw, MCP, { script: tool('mock', session) }),
    'proxied, called by MCP': row(gw, MCP, { script: tool('proxied', null) }),
    'proxied, called by MCP in a session': row(gw, MCP, { script: tool('proxied', session) }),
    // Its filter speaks the revisions with sessions, and has none.
    ...(await byEnvoy(servers, 'mcp', (envoy) => ({
      'Envoy proxy, called by MCP': row(envoy, ENVOY_MCP, { script: tool('proxied', 'none') }),
    }))),
  };
}

/** Returns no rows if Envoy, or what this form of it needs, is missing. */
async function byEnvoy(servers: Servers, form: EnvoyForm, rows: (envoy: Server) => Rows): Promise<Rows> {
  const envoy = ENVOY === null ? null : await servers.envoy(ENVOY, form);
  if (envoy !== null) return rows(envoy);
  process.stderr.write(`No row of Envoy (${form}): GW_BENCH_ENVOY or the path must name it; a filter needs cargo.\n`);
  return {};
}

function sizeOf(bytes: number): string {
  if (bytes >= 1_000_000) return `${bytes / 1_000_000} MB`;
  return bytes >= 1_000 ? `${bytes / 1_000} KB` : `${bytes} B`;
}

/** Returns the id of a new session, of the revisions that have them. */
async function openSession({ port }: Server): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const answer = await fetch(`http://127.0.0.1:${port}${MCP}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  const id = answer.headers.get('mcp-session-id');
  if (id === null) throw new Error(`no session: ${answer.status} ${await answer.text()}`);
  return id;
}
