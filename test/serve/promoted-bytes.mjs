// Loaded into a gateway and its workers (NODE_OPTIONS=--import): adds up the bytes by which the old generation grows. On
// SIGUSR2 it writes the sum since the last time to the file that PROMOTED_FILE names, with the process id behind it.
import { writeFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';

const used = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
let [before, grown] = [used(), 0];
const look = () => {
  const now = used();
  grown += Math.max(0, now - before);
  before = now;
};
new PerformanceObserver(look).observe({ entryTypes: ['gc'] });
process.on('SIGUSR2', () => {
  look();
  writeFileSync(`${process.env.PROMOTED_FILE}.${process.pid}`, String(grown));
  grown = 0;
});
