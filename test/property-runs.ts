/**
 * Cases of property tests and fuzzers: few, and the same each time; in `npm run test:long` a hundred times as many, by
 * a seed of the run's own. What fails names its seed, which GW_TEST_SEED replays, in either.
 */
import { randomInt } from 'node:crypto';

/** Of this run. */
export const LONG = process.env['GW_TEST_LONG'] !== undefined;
export const SEED = Number(process.env['GW_TEST_SEED'] ?? (LONG ? randomInt(2 ** 31) : 20_260_101));

export function propertyRuns(few: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: LONG ? few * 100 : few, seed: SEED };
}
