/**
 * `node test/smuggling/fuzz-beside-nginx.ts [CASES] [SEED]`: random connections to `gw serve` and to nginx, compared by
 * what reaches their upstreams (default: 100,000 cases, and a seed of the run's own). Needs nginx. Fails if they differ.
 */
import { randomInt } from 'node:crypto';
import { fuzz, SideBySide } from './fuzz.ts';

const CASES = Number(process.argv[2] ?? 100_000);
const SEED = Number(process.argv[3] ?? randomInt(2 ** 31));
/** Cases between two lines of progress. */
const STEP = 5000;

const sides = await SideBySide.start();
const from = performance.now();
const sums = { alike: 0, stricter: 0, laxer: 0, known: 0, passing: 0 };
const unexplained: string[] = [];
let failures = 0;
try {
  for (let done = 0; done < CASES; done += STEP) {
    const report = await fuzz(sides, Math.min(STEP, CASES - done), SEED + done);
    for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += report[key];
    unexplained.push(...report.unexplained);
    for (const { seed, bytes, places, what } of report.differences) {
      failures++;
      console.log(`seed ${seed}: ${what}\n  ${JSON.stringify(bytes)} cut at [${places}]`);
    }
    const seconds = ((performance.now() - from) / 1000).toFixed(0);
    process.stderr.write(`${done + report.cases} cases in ${seconds} s, ${failures} differ\n`);
  }
} finally {
  await sides.stop();
}
console.log(
  `${CASES} cases from seed ${SEED}: ${sums.alike} requests passed on alike; in ${sums.stricter} connections gw refused ` +
    `what nginx passed on, in ${sums.laxer} the other way round; ${sums.known} known differences, ${sums.passing} that ` +
    `did not come again, ${failures} others`,
);
console.log(`nginx refused ${unexplained.length} for reasons that are not listed`);
for (const each of unexplained.slice(0, 20)) console.log(`  ${each.slice(0, 500)}`);
const errors = sides.gateway.log.filter(({ level }) => level === 'error');
for (const each of errors.slice(0, 10)) console.log(`gw logged ${JSON.stringify(each)}`);
if (failures > 0 || errors.length > 0) process.exitCode = 1;
