/** Runs in each test file (see vitest.config.ts) and notes what the file cost, for the report of the slowest ones. */
import { channel } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

export interface FileCost {
  /** CPU seconds of the file's worker and of the processes that it started and that have ended. */
  readonly cpuSeconds: number;
  /** Processes that the worker started itself. */
  readonly processes: number;
}

declare module 'vitest' {
  interface TaskMeta {
    cost?: FileCost;
  }
}

/** Clock ticks in a second, which Linux has shown to programs as 100 on every processor. */
const TICKS = 100;

let processes = 0;
channel('child_process').subscribe(() => processes++);
// A worker may run one file after another.
const before = cpuSeconds();

// biome-ignore lint/correctness/noEmptyPattern: vitest takes nothing else for a first parameter.
afterAll(({}, file) => {
  file.meta.cost = { cpuSeconds: cpuSeconds() - before, processes };
  // The worker is ended by a signal, before Node.js would write it: see scripts/coverage.ts.
  if (process.env['NODE_V8_COVERAGE']) takeCoverage();
});

function cpuSeconds(): number {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  // Behind the name, which may hold anything: state is field 3; utime, stime, cutime and cstime are 14 to 17.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}
