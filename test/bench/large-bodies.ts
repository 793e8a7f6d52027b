/**
 * Large bodies through one process: its resident memory while they pass in both directions, and while uploads wait for
 * an upstream that reads slowly. Needs `npm run build` before it.
 *
 *   node test/bench/large-bodies.ts [--gb 2] [--slow-gb 0.25] [--slow-uploads 4] [--slow-mbps 25]
 *
 * `--gb`: each way, one body each at the same time. `--slow-gb`: of each slow upload; `--slow-mbps`: how much of each the
 * upstream reads in a second. Fails where memory grows by a quarter between the first and the last tenth of the time, or
 * slow uploads take more than 150 MB.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { compileSpec, startGateway } from '../serve/gateway.ts';
import { download, upload } from './body-clients.ts';
import { quietGateway } from './quiet-gateway.ts';
import { watchMemory } from './resident-memory.ts';

const { values } = parseArgs({
  options: {
    gb: { type: 'string', default: '2' },
    'slow-gb': { type: 'string', default: '0.25' },
    'slow-uploads': { type: 'string', default: '4' },
    'slow-mbps': { type: 'string', default: '25' },
  },
});
const BUILT = join(import.meta.dirname, '..', '..', 'dist', 'image', 'gw.js');
const GB = 1e9;
const MOST_GROWTH = 1.25;
const MOST_SLOW_MB = 150;

const worker = new Worker(join(import.meta.dirname, 'body-upstream.ts'));
const [upstreamPort]: number[] = await once(worker, 'message');
const proxied = { name: 'http-upstream', config: { url: `http://127.0.0.1:${upstreamPort}`, timeout: 3600 } };
const operation = { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': proxied };
const parameters = [{ name: 'amount', in: 'path', required: true, schema: { type: 'string' } }];
const artifact = await compileSpec(
  {
    openapi: '3.1.0',
    info: { title: 'Large bodies', version: '1' },
    paths: { '/{amount}': { parameters, get: operation, post: operation } },
  },
  ['http-upstream'],
);

/** Runs bodies through a gateway that has just started; says how fast they went, and how memory went. */
async function measured(name: string, bytes: number, run: (port: number) => Promise<unknown>) {
  const gw = await quietGateway(startGateway(artifact, { args: ['--max-body-size', String(100 * GB)], main: BUILT }));
  try {
    const port = Number(new URL(gw.url).port);
    await Promise.all([upload(port, '/all', 1 << 20), download(port, `/${1 << 20}`)]);
    const memory = watchMemory(gw.pid);
    const from = performance.now();
    await run(port);
    const seconds = (performance.now() - from) / 1000;
    const { peakMb, firstMb, lastMb } = memory.stop();
    console.log(
      `${name}: ${(bytes / 1e6 / seconds).toFixed(0)} MB/s for ${seconds.toFixed(0)} s; resident memory at most ` +
        `${peakMb.toFixed(0)} MB, ${firstMb.toFixed(0)} in the first tenth and ${lastMb.toFixed(0)} in the last`,
    );
    return { peakMb, growth: lastMb / firstMb };
  } finally {
    await gw.stop();
  }
}

const bytes = Number(values.gb) * GB;
const both = await measured(`${values.gb} GB each way`, 2 * bytes, async (port) => {
  const [sent, received] = await Promise.all([upload(port, '/all', bytes), download(port, `/${bytes}`)]);
  if (Number(sent) !== bytes || received !== bytes) throw new Error(`${sent} and ${received} bytes came of ${bytes}`);
});
const slowBytes = Number(values['slow-gb']) * GB;
const uploads = Number(values['slow-uploads']);
const slow = await measured(
  `${uploads} uploads of ${values['slow-gb']} GB to an upstream that reads ${values['slow-mbps']} MB/s of each`,
  uploads * slowBytes,
  (port) =>
    Promise.all(
      Array.from({ length: uploads }, () => upload(port, `/${Number(values['slow-mbps']) * 1e6}`, slowBytes)),
    ),
);
await worker.terminate();
if (both.growth > MOST_GROWTH || slow.peakMb > MOST_SLOW_MB) {
  process.stderr.write('memory grows, or slow uploads take too much of it\n');
  process.exitCode = 1;
}
