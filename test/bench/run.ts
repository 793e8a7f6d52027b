/**
 * `npm run bench`: requests a second, CPU time a request and p99, side by side in one run with nginx as the control.
 * Needs nginx and wrk. Absolute figures depend on the machine: the ratios are what counts.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { type Figures, type Load, measure, median } from './load.ts';
import { BODY, nginxConfig, writeProject } from './project.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const SECONDS = Number(process.argv[3] ?? 3);
const root = join(import.meta.dirname, '..', '..');
const gw = join(root, 'dist', 'image', 'gw.js');

for (const tool of ['nginx', 'wrk']) {
  try {
    execFileSync('which', [tool]);
  } catch {
    process.stderr.write(
      `npm run bench needs ${tool}: install it (Debian: apt-get install nginx-light wrk) and run again\n`,
    );
    process.exit(1);
  }
}

async function ready(url: string): Promise<void> {
  for (let i = 0; i < 400; i++) {
    const answer = await fetch(url).catch(() => null);
    if (answer) return void (await answer.arrayBuffer());
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${url} did not answer`);
}

const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
const children: ChildProcess[] = [];
function start(file: string, args: string[]): number {
  const log = openSync(join(dir, `${children.length}.log`), 'w');
  const child = spawn(file, args, {
    stdio: ['ignore', log, 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  children.push(child);
  return child.pid as number;
}

try {
  const [upstreamPort, controlPort, pairPort, gwPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const upstream = `http://127.0.0.1:${upstreamPort}`;
  writeProject(dir, upstream);
  const pool = `upstream backend { server 127.0.0.1:${upstreamPort}; keepalive 64; keepalive_requests 100000000; }`;
  const pass = 'proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection "";';
  writeFileSync(join(dir, 'upstream.conf'), nginxConfig(dir, upstreamPort, `return 200 '${BODY}';`));
  writeFileSync(join(dir, 'control.conf'), nginxConfig(dir, controlPort, pass, pool));
  start('nginx', ['-c', join(dir, 'upstream.conf'), '-p', dir]);
  const control = start('nginx', ['-c', join(dir, 'control.conf'), '-p', dir]);
  const pair = start(process.execPath, [join(import.meta.dirname, 'bare-pair.ts'), upstream, String(pairPort)]);
  const artifact = join(dir, 'bench.gwa');
  execFileSync(process.execPath, [gw, 'compile', '-m', join(dir, 'gw.yaml'), '-o', artifact, '--allow-plaintext'], {
    stdio: 'pipe',
  });
  const serving = start(process.execPath, [
    ...[gw, 'serve', '--artifact', artifact, '--listen', `127.0.0.1:${gwPort}`, '--admin-bind', 'off'],
    ...['--allow-plaintext-upstream', '--egress-allow', '127.0.0.1'],
  ]);
  const base = `http://127.0.0.1:${gwPort}`;
  await ready(`http://127.0.0.1:${controlPort}/`);
  await ready(`http://127.0.0.1:${pairPort}/`);
  await ready(`${base}/__gw/health`);

  const origin = { Origin: 'https://shop.example' };
  const full = { ...origin, 'X-API-Key': 'bench-key' };
  const of = (path: string, more: Partial<Load> = {}): Load => ({
    url: base + path,
    pids: [serving],
    seconds: SECONDS,
    ...more,
  });
  const loads: Record<string, Load> = {
    'nginx proxy (control)': { url: `http://127.0.0.1:${controlPort}/proxy`, pids: [control], seconds: SECONDS },
    'bare node:http + undici': { url: `http://127.0.0.1:${pairPort}/proxy`, pids: [pair], seconds: SECONDS },
    proxied: of('/proxy'),
    'proxied, key + rate limit + CORS': of('/guarded', { headers: full }),
    mock: of('/mock'),
    'mock + apikey-auth': of('/mock-key', { headers: full }),
    'mock + rate-limit': of('/mock-rate'),
    'mock + cors': of('/mock-cors', { headers: origin }),
    'validated POST': of('/orders', { script: join(dir, 'post.lua') }),
  };
  const results = new Map<string, Figures[]>(Object.keys(loads).map((name) => [name, []]));
  for (const load of Object.values(loads)) await measure({ ...load, seconds: 1 });
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, load] of Object.entries(loads)) {
      const figures = await measure(load);
      if (figures.notOk > 0) throw new Error(`${name}: ${figures.notOk} answers were not 2xx`);
      results.get(name)?.push(figures);
    }
    process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`);
  }
  print(results);
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.map((child) => child.exitCode ?? new Promise((resolve) => child.once('exit', resolve))));
  rmSync(dir, { recursive: true, force: true });
}

function print(results: ReadonlyMap<string, readonly Figures[]>): void {
  const cpu = (name: string) => (results.get(name) ?? []).map((each) => each.cpuPerRequest);
  const control = cpu('nginx proxy (control)');
  const mock = median(cpu('mock'));
  console.log(
    '\n| | requests/s | CPU µs/request | p99 ms | CPU, of nginx proxying | of the bare pair |\n|---|---|---|---|---|---|',
  );
  for (const [name, figures] of results) {
    const ratio = (to: readonly number[]) => median(cpu(name).map((value, i) => value / (to[i] ?? Number.NaN)));
    const row = [
      median(figures.map((each) => each.requestsPerSecond)).toFixed(0),
      median(cpu(name)).toFixed(1),
      median(figures.map((each) => each.p99Ms)).toFixed(2),
      ratio(control).toFixed(2),
      ratio(cpu('bare node:http + undici')).toFixed(2),
    ];
    console.log(`| ${name} | ${row.join(' | ')} |`);
  }
  console.log('\nOne middleware, CPU µs (difference to the plain mock):');
  for (const name of ['apikey-auth', 'rate-limit', 'cors']) {
    console.log(`  ${name}: ${(median(cpu(`mock + ${name}`)) - mock).toFixed(1)}`);
  }
}
