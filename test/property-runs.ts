/** How often property tests run: seeded and few in CI, a hundred times as many with a new seed in `npm run test:long`. */
export function propertyRuns(few: number): { readonly numRuns: number; readonly seed?: number } {
  return process.env['GW_TEST_LONG'] ? { numRuns: few * 100 } : { numRuns: few, seed: 20_260_101 };
}
