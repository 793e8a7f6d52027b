/**
 * `npm run bench [ROUNDS] [SECONDS] [part of a row's name]`: requests a second, CPU time a request and latency, side by
 * side in one run with nginx, Envoy and bare sockets. Needs nginx, wrk, h2load and openssl; rows of Envoy need `envoy` on
 * the path or GW_BENCH_ENVOY, the one with a WebAssembly filter cargo, too. Absolute figures depend on the machine: the
 * ratios are what counts.
 */
import { execFileSync } from 'node:child_process';
import { type Figures, latencyAt, measure, median } from './load.ts';
import { ENVOY_PLAIN, FULL, NGINX, QUERY, type Row, rowsOf, SOCKET, SOCKETS } from './rows.ts';
import { Servers } from './servers.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const SECONDS = Number(process.argv[3] ?? 3);
/** V8 compiles what runs often for some seconds. */
const WARM_SECONDS = 4;
/** Only rows whose names have this in them, and those that they are compared with. */
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

const servers = new Servers();
try {
  const all = Object.entries(await rowsOf(servers, SECONDS));
  const asked = all.filter(([name]) => name.includes(ONLY));
  const beside = new Set(asked.flatMap(([name, { nginx, envoy, floor = SOCKETS }]) => [name, nginx, envoy, floor]));
  const rows = all.filter(([name]) => beside.has(name));
  const results = new Map<string, Figures[]>(rows.map(([name]) => [name, []]));
  for (const [, load] of rows) await measure({ ...load, seconds: WARM_SECONDS });
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, load] of rows) {
      const figures = await measure(load);
      if (figures.notOk !== 0) throw new Error(`${name}: ${figures.notOk} answers were not 2xx`);
      results.get(name)?.push(figures);
    }
    process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`);
  }
  print(rows, results);
  await printLatency(rows, results);
} finally {
  await servers.stop();
}

function print(rows: readonly (readonly [string, Row])[], results: ReadonlyMap<string, readonly Figures[]>): void {
  const cpu = (name = '') => (results.get(name) ?? []).map((each) => each.cpuPerRequest);
  const ratio = (name: string, to?: string) => median(cpu(name).map((value, i) => value / (cpu(to)[i] ?? Number.NaN)));
  console.log('\n| | requests/s | CPU µs/request | p99 ms | CPU, of nginx | of Envoy | of bare sockets |');
  console.log('|---|---|---|---|---|---|---|');
  for (const [name, { nginx, envoy, floor = SOCKETS }] of rows) {
    const figures = results.get(name) ?? [];
    const cells = [
      median(figures.map((each) => each.requestsPerSecond)).toFixed(0),
      median(cpu(name)).toFixed(1),
      ...[median(figures.map((each) => each.p99Ms)), ratio(name, nginx), ratio(name, envoy), ratio(name, floor)].map(
        shown,
      ),
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
    ['Envoy proxy, called by MCP', ENVOY_PLAIN],
    ['proxied, called by MCP in a session', 'Envoy proxy, called by MCP'],
  ] as const;
  list(
    'Tools, CPU of the other',
    called.map(([name, other]) => [`${name}, of ${other}`, ratio(name, other), 2]),
  );
  list(
    'CPU of a request with 2 workers, of the same with 1',
    ['mock', 'proxied', FULL].map((name) => [name, ratio(`${name}, 2 workers`, name), 2]),
  );
}

/** Prints quantiles of the plain rows at half of the rate that each reached. */
async function printLatency(
  rows: readonly (readonly [string, Row])[],
  results: ReadonlyMap<string, readonly Figures[]>,
): Promise<void> {
  const plain = rows.filter(([name]) => [NGINX, ENVOY_PLAIN, 'proxied', SOCKETS, SOCKET, 'mock'].includes(name));
  console.log('\n| at half of its rate | requests/s | p50 ms | p99 ms |');
  console.log('|---|---|---|---|');
  for (const [name, load] of plain) {
    const rate = median((results.get(name) ?? []).map((each) => each.requestsPerSecond)) / 2;
    const { p50Ms, p99Ms } = await latencyAt(load, rate, servers.dir);
    console.log(`| ${name} | ${rate.toFixed(0)} | ${p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)} |`);
  }
}

/** Prints values with their digits, except those of rows that were left out. */
function list(title: string, values: readonly (readonly [name: string, value: number, digits: number])[]): void {
  const measured = values.filter(([, value]) => !Number.isNaN(value));
  if (measured.length === 0) return;
  console.log(`\n${title}:`);
  for (const [name, value, digits] of measured) console.log(`  ${name}: ${value.toFixed(digits)}`);
}

function shown(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(2);
}
