import { defineConfig } from 'vitest/config';
import LongestFirst from './scripts/longest-first.ts';

/** One at a time and after the others: they share a cluster, and count what it fails to answer in time. */
const ON_THE_CLUSTER = 'test/e2e/**/*.test.ts';
const exclude = ['**/node_modules/**', 'dist/**'];

export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: process.env['GW_TEST_LONG'] ? 1_800_000 : 120_000,
    hookTimeout: 120_000,
    // Of conditions: a machine that stands still for seconds fails no test.
    expect: { poll: { timeout: 30_000 } },
    // What a list held, in CI's summary too.
    chaiConfig: { truncateThreshold: 1000 },
    reporters: ['default', './scripts/test-report.ts'],
    setupFiles: ['./test/file-cost.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'gw',
          include: ['**/*.test.ts'],
          exclude: [...exclude, ON_THE_CLUSTER],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'cluster', include: [ON_THE_CLUSTER], exclude, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
