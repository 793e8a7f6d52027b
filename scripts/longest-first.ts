/**
 * In which order vitest starts files: the longest first, so that no worker is left with a long one at the end. How long
 * they take is in test/durations.json; with GW_TEST_DURATIONS=1 a run notes there what its files took (see test-report.ts).
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

export const ROOT = join(import.meta.dirname, '..');
export const DURATIONS_FILE = join(ROOT, 'test', 'durations.json');
/** Seconds of a file that is not in it: new, or quick. */
const UNKNOWN = 1;

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds: Readonly<Record<string, number>> = JSON.parse(readFileSync(DURATIONS_FILE, 'utf8'));
    const of = ({ moduleId }: TestSpecification) => seconds[relative(ROOT, moduleId)] ?? UNKNOWN;
    const group = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return files.toSorted((a, b) => group(a) - group(b) || of(b) - of(a) || a.moduleId.localeCompare(b.moduleId));
  }
}
