/**
 * `npm run bench`: requests a second, CPU time a request and p99, side by side in one run with nginx as the control.
 * Needs nginx, wrk, h2load and openssl. Absolute figures depend on the machine: the ratios are what counts.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENVOY, ENVOY_MCP } from './envoy.ts';
import { type Figures, type Load, measure, median } from './load.ts';
import { graphqlScript, postScript, toolScript } from './project.ts';
import { type Server, Servers } from './servers.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const SECONDS = Number(process.argv[3] ?? 3);
/** Only rows whose names have this in them. */
const ONLY = process.argv[4] ?? '';

for (const [tool, name] of Object.entries({
  nginx: 'nginx-light',
  wrk: 'wrk',
  h2load: 'nghttp2-client',
  openssl: 'openssl',
})) {
  try {
    execFileSync('which', [tool]);
  } catch {
    process.stderr.write(`npm run bench needs ${tool}: install it (Debian: apt-get install ${name}) and run again\n`);
    process.exit(1);
  }
}

/** A row, and the one that its CPU time is compared with. */
interface Row extends Load {
  readonly control: string;
}

const NGINX = 'nginx proxy';
const QUERY = 'mock, POST of a GraphQL query';
const FULL = 'proxied, key + rate limit + CORS';
const MCP = '/__gw/mcp';

async function rowsOf(servers: Servers): Promise<Record<string, Row>> {
  await servers.startUpstream();
  const [control, controlTls, pair] = [
    await servers.control(),
    await servers.control({ tls: true }),
    await servers.barePair(),
  ];
  const gw = await servers.gateway({});
  const gwTls = await servers.gateway({}, { tls: true });
  const many = await servers.gateway({ otherRoutes: 1000 });
  const two = await servers.gateway({}, { args: ['--workers', '2'] });
  const script = (name: string, text: string) => {
    const path = join(servers.dir, `${name}.lua`);
    writeFileSync(path, text);
    return path;
  };
  const row = ({ port, pid }: Server, path: string, more: Partial<Row> & { readonly tls?: boolean } = {}): Row => {
    const { tls, ...rest } = more;
    return { url: `http${tls ? 's' : ''}://127.0.0.1:${port}${path}`, pid, seconds: SECONDS, control: NGINX, ...rest };
  };
  const origin = { Origin: 'https://shop.example' };
  const full = { ...origin, 'X-API-Key': 'bench-key' };
  const order = (bytes: number) => script(`post-${bytes}`, postScript(bytes));
  const [small, kilobyte, hundred] = [order(100), order(1_000), order(100_000)];
  const query = script('graphql', graphqlScript());
  const session = await openSession(gw);
  const tool = (name: string, id: string | null) => script(`tool-${name}-${id ?? ''}`, toolScript(name, id));
  return {
    [NGINX]: row(control, '/proxy'),
    'bare node:http + undici': row(pair, '/proxy'),
    proxied: row(gw, '/proxy'),
    [FULL]: row(gw, '/guarded', { headers: full }),
    'proxied, 2 workers': row(two, '/proxy'),
    [`${FULL}, 2 workers`]: row(two, '/guarded', { headers: full }),
    mock: row(gw, '/mock'),
    'mock + apikey-auth': row(gw, '/mock-key', { headers: full }),
    'mock + rate-limit': row(gw, '/mock-rate'),
    'mock + cors': row(gw, '/mock-cors', { headers: origin }),
    [QUERY]: row(gw, '/mock-post', { script: query }),
    'mock + graphql': row(gw, '/mock-graphql', { script: query }),
    'mock, called by MCP': row(gw, MCP, { script: tool('mock', null) }),
    'mock, called by MCP in a session': row(gw, MCP, { script: tool('mock', session) }),
    'proxied, called by MCP': row(gw, MCP, { script: tool('proxied', null) }),
    'proxied, called by MCP in a session': row(gw, MCP, { script: tool('proxied', session) }),
    ...(await rowsOfEnvoy(servers, (server, path, script) => row(server, path, script === null ? {} : { script }))),
    'mock among 1,000 routes': row(many, '/mock'),
    'mock, 2 workers': row(two, '/mock'),
    'nginx proxy, POST 100 B': row(control, '/orders', { script: small }),
    'validated POST 100 B': row(gw, '/orders', { script: small, control: 'nginx proxy, POST 100 B' }),
    'nginx proxy, POST 1 KB': row(control, '/orders', { script: kilobyte }),
    'validated POST 1 KB': row(gw, '/orders', { script: kilobyte, control: 'nginx proxy, POST 1 KB' }),
    'nginx proxy, POST 100 KB': row(control, '/orders', { script: hundred }),
    'validated POST 100 KB': row(gw, '/orders', { script: hundred, control: 'nginx proxy, POST 100 KB' }),
    'nginx proxy, TLS': row(controlTls, '/proxy', { tls: true }),
    'proxied, TLS': row(gwTls, '/proxy', { tls: true, control: 'nginx proxy, TLS' }),
    'nginx proxy, HTTP/2 over TLS': row(controlTls, '/proxy', { tls: true, http2: true }),
    'proxied, HTTP/2 over TLS': row(gwTls, '/proxy', {
      tls: true,
      http2: true,
      control: 'nginx proxy, HTTP/2 over TLS',
    }),
  };
}

/** None without Envoy. Its filter speaks the revisions with sessions, and has none. */
async function rowsOfEnvoy(
  servers: Servers,
  row: (server: Server, path: string, script: string | null) => Row,
): Promise<Record<string, Row>> {
  if (ENVOY === null) {
    process.stderr.write('No rows of Envoy: GW_BENCH_ENVOY names no program, and there is no envoy on the path.\n');
    return {};
  }
  const envoy = await servers.envoy(ENVOY, 'proxied', '/proxy');
  const script = join(servers.dir, 'tool-envoy.lua');
  writeFileSync(script, toolScript('proxied', 'none'));
  return {
    'proxied by Envoy': row(envoy, '/proxy', null),
    'proxied by Envoy, called by MCP': row(envoy, ENVOY_MCP, script),
  };
}

/** Of the revisions that have them: the id of a new one. */
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

const servers = new Servers();
try {
  const rows = Object.entries(await rowsOf(servers)).filter(([name]) => name.includes(ONLY) || name.startsWith(NGINX));
  const results = new Map<string, Figures[]>(rows.map(([name]) => [name, []]));
  for (const [, load] of rows) await measure({ ...load, seconds: 1 });
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, load] of rows) {
      const figures = await measure(load);
      if (figures.notOk !== 0) throw new Error(`${name}: ${figures.notOk} answers were not 2xx`);
      results.get(name)?.push(figures);
    }
    process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`);
  }
  print(rows, results);
} finally {
  await servers.stop();
}

function print(rows: readonly (readonly [string, Row])[], results: ReadonlyMap<string, readonly Figures[]>): void {
  const cpu = (name: string) => (results.get(name) ?? []).map((each) => each.cpuPerRequest);
  const ratio = (name: string, to: string) => median(cpu(name).map((value, i) => value / (cpu(to)[i] ?? Number.NaN)));
  console.log('\n| | requests/s | CPU µs/request | p99 ms | CPU, of nginx doing the same | of the bare pair |');
  console.log('|---|---|---|---|---|---|');
  for (const [name, { control }] of rows) {
    const figures = results.get(name) ?? [];
    const cells = [
      median(figures.map((each) => each.requestsPerSecond)).toFixed(0),
      median(cpu(name)).toFixed(1),
      shown(median(figures.map((each) => each.p99Ms))),
      name.startsWith(NGINX) ? '1.00' : ratio(name, control).toFixed(2),
      shown(ratio(name, 'bare node:http + undici')),
    ];
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
  const added = Object.entries({ 'apikey-auth': 'mock', 'rate-limit': 'mock', cors: 'mock', graphql: QUERY });
  list(
    'One middleware, CPU µs (difference to the same without it)',
    added.map(([name, plain]) => [name, median(cpu(`mock + ${name}`)) - median(cpu(plain)), 1]),
  );
  const called = [
    ['mock, called by MCP', 'mock'],
    ['mock, called by MCP in a session', 'mock'],
    ['proxied, called by MCP', 'proxied'],
    ['proxied, called by MCP in a session', 'proxied'],
    ['proxied by Envoy, called by MCP', 'proxied by Envoy'],
    ['proxied, called by MCP in a session', 'proxied by Envoy, called by MCP'],
  ] as const;
  list(
    'Tools, CPU of the other',
    called.map(([name, other]) => [`${name}, of ${other}`, ratio(name, other), 2]),
  );
  list(
    'Requests a CPU second with 2 workers, of those with 1',
    ['mock', 'proxied', FULL].map((name) => [name, ratio(name, `${name}, 2 workers`), 2]),
  );
}

/** Values with their digits; those of rows that were left out are, too. */
function list(title: string, values: readonly (readonly [name: string, value: number, digits: number])[]): void {
  const measured = values.filter(([, value]) => !Number.isNaN(value));
  if (measured.length === 0) return;
  console.log(`\n${title}:`);
  for (const [name, value, digits] of measured) console.log(`  ${name}: ${value.toFixed(digits)}`);
}

function shown(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(2);
}
