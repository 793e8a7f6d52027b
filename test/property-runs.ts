/**
 * Cases of property tests and fuzzers: few, and the same each time; in `npm run test:long` a hundred times as many, by
 * a seed of the run's own; with GW_FUZZ_SECONDS as many as fit into that time, at most ten million, for each property.
 * What fails names its seed, which GW_TEST_SEED replays, in any.
 */
import { randomInt } from 'node:crypto';
import fc, { type RunDetails } from 'fast-check';

/** Of this run. */
export const LONG = process.env['GW_TEST_LONG'] !== undefined;
const FUZZ_SECONDS = Number(process.env['GW_FUZZ_SECONDS'] ?? 0);
export const SEED = Number(process.env['GW_TEST_SEED'] ?? (LONG || FUZZ_SECONDS > 0 ? randomInt(2 ** 31) : 20_260_101));

const MOST_CASES = 10_000_000;

interface PropertyRuns {
  readonly numRuns: number;
  readonly seed: number;
  readonly interruptAfterTimeLimit?: number;
  readonly reporter?: (details: Told) => void;
}

/** Of RunDetails, whatever the cases are. */
type Told = Pick<RunDetails<unknown>, 'failed' | 'numRuns' | 'seed'>;

export function propertyRuns(few: number): PropertyRuns {
  if (FUZZ_SECONDS > 0)
    return { numRuns: MOST_CASES, seed: SEED, interruptAfterTimeLimit: FUZZ_SECONDS * 1000, reporter: told };
  return { numRuns: LONG ? few * 100 : few, seed: SEED };
}

function told(details: Told): void {
  if (details.failed) throw new Error(fc.defaultReportMessage(details as RunDetails<unknown>));
  process.stdout.write(`${details.numRuns} cases, seed ${details.seed}\n`);
}
