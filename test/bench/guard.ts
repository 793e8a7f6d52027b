/**
 * `node test/bench/guard.ts [ROUNDS]`, after `npm run build`: guards against cost that creeps in. Prints the CPU time of
 * a request as a ratio to sockets with llhttp and nothing else, the median of interleaved rounds, beside the ratio that
 * guard.json records. Exits with 1 if one has grown by more than a tenth: explain it and record it with `--record`, or
 * mend it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Load, measure, median } from './load.ts';
import { type Server, Servers } from './servers.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { record: { type: 'boolean', default: false } },
});
const ROUNDS = Number(positionals[0] ?? 9);
const RECORD = join(import.meta.dirname, 'guard.json');
const TOLERANCE = 1.1;

const servers = new Servers();
try {
  await servers.startUpstream();
  const gw = await servers.gateway({});
  const headers = { Origin: 'https://shop.example', 'X-API-Key': 'bench-key' };
  const load = ({ port, pid }: Server, path: string, more: Partial<Load> = {}): Load => {
    return { url: `http://127.0.0.1:${port}${path}`, pid, seconds: 1, ...more };
  };
  const floors = {
    proxy: load(await servers.bareSockets('proxy'), '/proxy'),
    mock: load(await servers.bareSockets('mock'), '/mock'),
  };
  const rows = {
    proxied: { floor: 'proxy', load: load(gw, '/proxy') },
    'proxied, key': { floor: 'proxy', load: load(gw, '/key', { headers }) },
    'proxied, key + rate limit + CORS': { floor: 'proxy', load: load(gw, '/guarded', { headers }) },
    mock: { floor: 'mock', load: load(gw, '/mock') },
  } as const;
  const ratios = new Map<string, number[]>(Object.keys(rows).map((name) => [name, []]));
  // The first round is left out: it warms.
  for (let round = 0; round <= ROUNDS; round++) {
    const cpu = { proxy: 0, mock: 0 };
    for (const floor of ['proxy', 'mock'] as const) cpu[floor] = (await measure(floors[floor])).cpuPerRequest;
    for (const [name, { floor, load }] of Object.entries(rows)) {
      const { cpuPerRequest, notOk } = await measure(load);
      if (notOk !== 0) throw new Error(`${name}: ${notOk} answers were not 2xx`);
      if (round > 0) ratios.get(name)?.push(cpuPerRequest / cpu[floor]);
    }
    process.stderr.write(`round ${round} of ${ROUNDS}\n`);
  }
  report(Object.fromEntries([...ratios].map(([name, each]) => [name, Number(median(each).toFixed(2))])));
} finally {
  await servers.stop();
}

function report(measured: Readonly<Record<string, number>>): void {
  const recorded: Record<string, number> = JSON.parse(readFileSync(RECORD, 'utf8'));
  console.log('\n| CPU, of bare sockets | measured | recorded |');
  console.log('|---|---|---|');
  for (const [name, ratio] of Object.entries(measured)) {
    const before = recorded[name] ?? Number.NaN;
    const grown = ratio > before * TOLERANCE;
    console.log(`| ${name} | ${ratio.toFixed(2)}${grown ? ' (grown)' : ''} | ${before.toFixed(2)} |`);
    if (grown && !values.record) process.exitCode = 1;
  }
  if (values.record) writeFileSync(RECORD, `${JSON.stringify(measured, null, 2)}\n`);
}
