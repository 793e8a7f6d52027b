import { defineConfig } from 'vitest/config';
import LongestFirst from './scripts/longest-first.ts';
import { WAIT_LIMIT_MS } from './test/wait-limit.ts';

/** Of one module or a few. */
const UNITS = '{gateway,control,operator}/**/*.test.ts';
/** Of a feature, through programs. */
const OF_FEATURES = 'gateway/features/*/tests/**/*.test.ts';
/** They mostly wait for a cluster. */
const ON_THE_CLUSTER = 'test/e2e/**/*.test.ts';
/** Of these, the ones that count what a cluster fails to answer: after all others, whose CPU time they would lack. */
const UNDER_LOAD = 'test/e2e/**/*.load.test.ts';
const exclude = ['**/node_modules/**', 'dist/**'];
const globalSetup = './test/e2e/shared-operator.ts';

/*
 * What is imported once serves all files of a worker, which halves the CPU time that small ones take. So none of them
 * closes what a module keeps for all, such as the thread of the compiler, or leaves `process.env` otherwise than it was.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout:
      process.env['GW_TEST_LONG'] || process.env['GW_FUZZ_SECONDS']
        ? 1_800_000 + 2000 * Number(process.env['GW_FUZZ_SECONDS'] ?? 0)
        : 5 * WAIT_LIMIT_MS,
    hookTimeout: 5 * WAIT_LIMIT_MS,
    expect: { poll: { timeout: WAIT_LIMIT_MS } },
    // What a list held, in CI's summary too.
    chaiConfig: { truncateThreshold: 1000 },
    reporters: ['default', './scripts/test-report.ts'],
    setupFiles: ['./test/file-cost.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'units',
          include: [UNITS],
          exclude: [...exclude, OF_FEATURES],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'gw',
          include: [OF_FEATURES, '{test,scripts,site,examples}/**/*.test.ts'],
          exclude: [...exclude, ON_THE_CLUSTER],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'cluster',
          globalSetup,
          include: [ON_THE_CLUSTER],
          exclude: [...exclude, UNDER_LOAD],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'cluster under load',
          globalSetup,
          include: [UNDER_LOAD],
          exclude,
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
