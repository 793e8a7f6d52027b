/**
 * Others beside many connections that send one byte a second: p99 of their requests, at a fixed rate and from wrk with 32
 * connections, without and with them, and the memory that each takes. Needs wrk, and `npm run build` before it.
 *
 *   node test/bench/slow-connections.ts [--clients 10000] [--rounds 3] [--seconds 5] [--rate 1000] [--in head|body]
 *
 * `--in`: whether the bytes are those of heads, of which each takes 25 seconds, or of bodies that the gateway holds.
 * The gateway takes half of its open files for clients: `ulimit -n` must allow it more than twice as many as there are
 * clients, or it ends connections. `--gateway`: arguments of Node.js for the gateway, such as `--cpu-prof`.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { eventually } from '../eventually.ts';
import { compileSpec, startGateway } from '../serve/gateway.ts';
import { cpuTime, measure, median, memoryMiB } from './load.ts';
import { quietGateway } from './quiet-gateway.ts';
import type { SlowCount, SlowThread } from './slow-clients.ts';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    rate: { type: 'string', default: '1000' },
    in: { type: 'string', default: 'head' },
    gateway: { type: 'string', default: '' },
  },
});
const [CLIENTS, ROUNDS, SECONDS] = [Number(values.clients), Number(values.rounds), Number(values.seconds)];
const BUILT = join(import.meta.dirname, '..', '..', 'dist', 'image', 'gw.js');
const HELD_HEAD = `POST /held HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n`;
const SENT = {
  head: { head: '', loop: 'GET / HTTP/1.1\r\nHost:\r\n\r\n' },
  body: { head: HELD_HEAD, loop: ' ' },
};
const sent = values.in === 'body' ? SENT.body : SENT.head;

interface Round {
  readonly rateP50: number;
  readonly rateP99: number;
  readonly wrkP99: number;
  readonly wrkPerSecond: number;
}

const threads: Worker[] = [];
function thread(workerData: SlowThread): Worker {
  const worker = new Worker(join(import.meta.dirname, 'slow-clients.ts'), { workerData });
  worker.on('error', (error) => process.stderr.write(`${String(error)}\n`));
  threads.push(worker);
  return worker;
}

async function ask<T>(worker: Worker, message: 'count' | 'stop'): Promise<T> {
  const answer = once(worker, 'message');
  worker.postMessage(message);
  const [value]: T[] = await answer;
  if (value === undefined) throw new Error('the thread has ended');
  return value;
}

const mock = { name: 'mock', config: { body: 'ok' } };
const responses = { 200: { description: 'OK' } };
const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
const artifact = await compileSpec(
  {
    openapi: '3.1.0',
    info: { title: 'Slow connections', version: '1' },
    paths: {
      '/': { get: { responses, 'x-gw-dispatch': mock } },
      '/fast': { get: { responses, 'x-gw-dispatch': mock } },
      '/held': { post: { requestBody, responses, 'x-gw-dispatch': mock } },
    },
  },
  ['mock'],
);
const gw = await quietGateway(
  startGateway(artifact, {
    args: ['--min-body-rate', '0', '--body-deadline', '0'],
    env: {
      GW_MAX_CONNECTIONS: String(2 * CLIENTS),
      ...(values.gateway === '' ? {} : { NODE_OPTIONS: values.gateway }),
    },
    within: ['sh', '-c', 'ulimit -n "$(ulimit -Hn)"; exec "$@"', 'sh'],
    isCrowded: true,
    main: BUILT,
  }),
);
const port = Number(new URL(gw.url).port);

const quantile = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;

async function round(probe: Worker): Promise<Round> {
  await ask(probe, 'count');
  await pause(SECONDS * 1000);
  const delays = (await ask<number[]>(probe, 'count')).toSorted((one, other) => one - other);
  const load = await measure({ url: `${gw.url}/fast`, pid: gw.pid, seconds: SECONDS });
  if (load.notOk > 0) throw new Error(`${load.notOk} requests were not answered with 200`);
  return {
    rateP50: quantile(delays, 0.5),
    rateP99: quantile(delays, 0.99),
    wrkP99: load.p99Ms,
    wrkPerSecond: load.requestsPerSecond,
  };
}

async function rounds(probe: Worker): Promise<Round[]> {
  const all: Round[] = [];
  for (let i = 0; i < ROUNDS; i++) all.push(await round(probe));
  return all;
}

const probe = thread({ kind: 'probe', port, perSecond: Number(values.rate) });
await measure({ url: `${gw.url}/fast`, pid: gw.pid, seconds: 5 });
const before = await rounds(probe);
const idle = memoryMiB(gw.pid);
const slow = thread({ kind: 'slow', port, clients: CLIENTS, ...sent });
await eventually(async () => (await ask<SlowCount>(slow, 'count')).open === CLIENTS);
await pause(5000);
const mib = memoryMiB(gw.pid) - idle;
const cpu = cpuTime(gw.pid);
const from = performance.now();
await pause(SECONDS * 1000);
const cpuShare = (cpuTime(gw.pid) - cpu) / 1000 / (performance.now() - from);
const beside = await rounds(probe);
const { lost, bytes } = await ask<SlowCount>(slow, 'stop');
await pause(3000);
const after = await rounds(probe);

const row = (name: string, all: readonly Round[]) => {
  const of = (key: keyof Round, digits: number) => median(all.map((each) => each[key])).toFixed(digits);
  console.log(
    `| ${name} | ${of('rateP50', 2)} | ${of('rateP99', 2)} | ${of('wrkPerSecond', 0)} | ${of('wrkP99', 2)} |`,
  );
};
console.log(
  `\n| others | p50 ms at ${values.rate}/s | p99 ms | wrk -c32: requests/s | p99 ms |\n|---|---|---|---|---|`,
);
row('before', before);
row(`beside ${CLIENTS}`, beside);
row('after', after);
const alone = [...before, ...after];
const ratio = (key: keyof Round) =>
  (median(beside.map((each) => each[key])) / median(alone.map((each) => each[key]))).toFixed(2);
console.log(
  `p99 beside them: ${ratio('rateP99')} times at ${values.rate}/s, ${ratio('wrkP99')} times with wrk (target: 1.5)`,
);
console.log(
  `${((mib * 1024) / CLIENTS).toFixed(1)} KiB of memory a connection (${mib.toFixed(0)} MiB); ${bytes} bytes sent, ` +
    `${lost} connections lost; ${(cpuShare * 100).toFixed(0)} % of a CPU with 1 request a ms beside them`,
);
await Promise.all(threads.map((each) => each.terminate()));
process.exitCode = await gw.stop();
