/**
 * What starting costs: `gw serve` until its first answer, and its memory after idling. Needs `npm run build` before it.
 * Each row is the median of several starts, taken in turn; an artifact of five routes, and one for each description in
 * the folder of GW_DOCUMENTS, with a mock for each operation.
 *
 *   node test/bench/start.ts [--starts 9] [--idle SECONDS] [--program dist/image/gw.js]...
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loggingProcess } from '../logging-process.ts';
import { type Document, withMocks } from '../mocked-document.ts';
import { compileSpec } from '../serve/gateway.ts';
import { cpuTime, median, memoryMiB } from './load.ts';
import { BENCH_PLUGINS, benchDocument } from './project.ts';

const GW = join(import.meta.dirname, '..', '..', 'dist', 'image', 'gw.js');
const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '9' },
    idle: { type: 'string', default: '5' },
    program: { type: 'string', multiple: true, default: [GW] },
  },
});
const FIVE = ['/mock', '/mock-key', '/proxy', '/guarded', '/orders'];

interface Served {
  readonly name: string;
  readonly artifact: string;
  /** Path of the first request. */
  readonly path: string;
}

interface Start {
  readonly cpuMs: number;
  readonly elapsedMs: number;
  readonly residentMiB: number;
  readonly proportionalMiB: number;
}

const folder = mkdtempSync(join(tmpdir(), 'gw-start-'));

function written(name: string, artifact: Uint8Array, path: string): Served {
  const file = join(folder, `${name.replaceAll(/\W/g, '-')}.gwa`);
  writeFileSync(file, artifact);
  return { name, artifact: file, path };
}

async function fiveRoutes(): Promise<Served> {
  const { paths, ...document } = benchDocument('http://127.0.0.1:1');
  const five = Object.fromEntries(Object.entries(paths).filter(([path]) => FIVE.includes(path)));
  const plugins = BENCH_PLUGINS.filter((name) => JSON.stringify(five).includes(`"${name}"`));
  return written('five routes', await compileSpec({ ...document, paths: five }, plugins), '/mock');
}

async function described(file: string): Promise<Served> {
  const document: Document = JSON.parse(readFileSync(file, 'utf8'));
  const { operations, path } = withMocks(document);
  const name = `${file.slice(file.lastIndexOf('/') + 1, -'.json'.length)} (${operations})`;
  return written(name, await compileSpec(document, ['mock']), path);
}

async function start(program: string, { artifact, path }: Served): Promise<Start> {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const from = performance.now();
  const child = spawn(
    process.execPath,
    [program, 'serve', '--artifact', artifact, '--listen', '127.0.0.1:0', '--admin-bind', 'off'].concat([
      ...['--allow-plaintext-upstream', '--egress-allow', '127.0.0.1'],
    ]),
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...env, NODE_ENV: 'production' } },
  );
  const gw = loggingProcess(child, 'gw serve');
  const serving = await gw.logged(({ msg }) => msg === 'serving');
  const { status } = await fetch(`http://${serving['listen']}${path}`);
  const elapsedMs = performance.now() - from;
  const cpuMs = cpuTime(gw.pid) / 1000;
  if (status !== 200) throw new Error(`the first answer is ${status}`);
  await pause(Number(values.idle) * 1000);
  const memory = { residentMiB: residentMiB(gw.pid), proportionalMiB: memoryMiB(gw.pid) };
  await gw.stop();
  return { cpuMs, elapsedMs, ...memory };
}

function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

try {
  const served = [await fiveRoutes()];
  const documents = process.env['GW_DOCUMENTS'];
  for (const file of documents === undefined ? [] : readdirSync(documents)) {
    if (file.endsWith('.json')) served.push(await described(join(documents ?? '', file)));
  }
  console.log(
    '| program | artifact | CPU ms until the first answer | ms | MiB after idling, RSS | PSS |\n|---|---|---|---|---|---|',
  );
  for (const each of served) {
    const starts = values.program.map((program) => ({ program, figures: [] as Start[] }));
    for (let round = 0; round < Number(values.starts); round++) {
      for (const { program, figures } of starts) figures.push(await start(program, each));
    }
    for (const { program, figures } of starts) {
      const middle = (of: (start: Start) => number) => median(figures.map(of)).toFixed(0);
      const cells = [middle((one) => one.cpuMs), middle((one) => one.elapsedMs)];
      const memory = [middle((one) => one.residentMiB), middle((one) => one.proportionalMiB)];
      console.log(`| ${[program, each.name, ...cells, ...memory].join(' | ')} |`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
