/**
 * Measures finding a route among 1,000, in nanoseconds: `node gateway/src/router/router.bench.ts`. Best of several
 * rounds.
 */
import { Router } from './router.ts';

const ROUNDS = 1000;
const CALLS = 2_000;

const router = new Router<number>();
for (let i = 0; i < 200; i++) {
  router.add('GET', `/v1/things${i}`, i);
  router.add('POST', `/v1/things${i}`, i);
  router.add('GET', `/v1/things${i}/{id}`, i);
  router.add('GET', `/v1/things${i}/{id}/parts/{part}`, i);
  router.add('GET', `/v1/things${i}/{id}/files/{path+}`, i);
}

function measure(label: string, pathOf: (i: number) => string): void {
  // As they come from a connection, in one piece.
  const paths = Array.from({ length: 200 }, (_, i) => Buffer.from(pathOf(i)).toString('latin1'));
  let best = Number.POSITIVE_INFINITY;
  let found = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    for (let i = 0; i < CALLS; i++) if (router.find('GET', paths[i % 200] as string).value !== null) found++;
    best = Math.min(best, ((performance.now() - started) * 1e6) / CALLS);
  }
  process.stdout.write(`${label.padEnd(28)} ${best.toFixed(0).padStart(5)} ns${found === 0 ? '  (none)' : ''}\n`);
}

measure('static', (i) => `/v1/things${i}`);
measure('one parameter', (i) => `/v1/things${i}/4711`);
measure('two parameters', (i) => `/v1/things${i}/4711/parts/12`);
measure('greedy', (i) => `/v1/things${i}/4711/files/a/b/c.txt`);
measure('percent-encoded', (i) => `/v1/things${i}/a%20b`);
measure('no such path', (i) => `/v1/nothing${i}/4711`);
