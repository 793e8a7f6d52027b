/**
 * `node test/bench/memory.ts [REQUESTS]`: resident memory over millions of requests with a reload every few seconds.
 * Needs nginx and wrk, and `npm run build` before it. Fails where the second half needs more than the first.
 */
import { utimesSync } from 'node:fs';
import { measure, memoryMiB } from './load.ts';
import { Servers } from './servers.ts';

const REQUESTS = Number(process.argv[2] ?? 5_000_000);
const RELOAD_SECONDS = 5;
/** How much larger the second half's peak may be: what a collector leaves lying about differs from time to time. */
const TOLERANCE = 1.1;

const servers = new Servers();
const samples: { readonly requests: number; readonly mib: number }[] = [];
let reloads = 0;
try {
  await servers.startUpstream();
  const gw = await servers.gateway({ otherRoutes: 200 });
  const paths = ['/proxy', '/guarded', '/mock', '/mock-rate', '/missing'];
  const headers = { Origin: 'https://shop.example', 'X-API-Key': 'bench-key' };
  let requests = 0;
  for (let turn = 0; requests < REQUESTS; turn++) {
    const url = `http://127.0.0.1:${gw.port}${paths[turn % paths.length]}`;
    const figures = await measure({ url, pid: gw.pid, seconds: RELOAD_SECONDS, headers });
    requests += Math.round(figures.requestsPerSecond * RELOAD_SECONDS);
    const now = new Date();
    utimesSync(gw.artifact, now, now);
    reloads++;
    samples.push({ requests, mib: memoryMiB(gw.pid) });
    process.stderr.write(
      `${(requests / 1e6).toFixed(2)} million requests, ${reloads} reloads: ${samples.at(-1)?.mib.toFixed(0)} MiB\n`,
    );
  }
} finally {
  await servers.stop();
}

const half = (from: number, to: number) =>
  Math.max(
    ...samples
      .filter(({ requests }) => requests > REQUESTS * from && requests <= REQUESTS * to + 1e6)
      .map(({ mib }) => mib),
  );
const [first, second] = [half(0.1, 0.5), half(0.5, 1)];
console.log(`peak of the first half ${first.toFixed(0)} MiB, of the second ${second.toFixed(0)} MiB`);
if (second > first * TOLERANCE) {
  process.stderr.write('resident memory grows\n');
  process.exitCode = 1;
}
