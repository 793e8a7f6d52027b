import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['**/node_modules/**', 'dist/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: process.env['GW_TEST_LONG'] ? 1_800_000 : 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
