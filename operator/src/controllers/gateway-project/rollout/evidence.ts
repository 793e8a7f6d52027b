/**
 * An operation that a canary measured as bad needs evidence to return (docs/decisions.md#measured-faults): the record
 * of faults, by operation and fingerprint, and the evidence that a later revision needs. Pure.
 */
import type { Revision } from '../../../api/gateway-project.ts';
import type { MeasuredFault } from '../../../api/rollout.ts';
import { rfc3339 } from '../../../runtime/conditions.ts';
import type { AnalysisResult } from './analysis.ts';

/** Fingerprint of an operation in an artifact; undefined if the artifact cannot be read. */
export type FingerprintOf = (artifactHash: string, operation: string) => string | undefined;

/** Faults that are kept; the oldest yield. */
const MOST_FAULTS = 100;
const MAX_NAMED = 3;

/** Returns the `faults` that a revision repeats. A fault or artifact without a fingerprint counts as the same. */
export function faultsIn(
  faults: readonly MeasuredFault[],
  { artifactHash }: Revision,
  fingerprintOf: FingerprintOf,
): readonly MeasuredFault[] {
  return faults.filter(({ operation, fingerprint }) => {
    const own = fingerprintOf(artifactHash, operation);
    return fingerprint === undefined || own === undefined || own === fingerprint;
  });
}

/** Returns the faults for which the canary's step has had too few requests to disprove them. */
export function unproven(
  faults: readonly MeasuredFault[],
  analysis: AnalysisResult | undefined,
  minRequests: number,
): readonly MeasuredFault[] {
  return faults.filter(({ operation }) => (analysis?.requests.get(operation) ?? 0) < minRequests);
}

/** Returns the faults with an analysis' new findings about a revision, newest first. */
export function withMeasured(
  faults: readonly MeasuredFault[],
  { worse, message }: AnalysisResult,
  { revision, artifactHash }: Revision,
  fingerprintOf: FingerprintOf,
  now: Date,
): readonly MeasuredFault[] {
  const found = worse.map((operation): MeasuredFault => {
    const fingerprint = fingerprintOf(artifactHash, operation);
    const base = { operation, message: message.slice(0, 1024), revision, at: rfc3339(now) };
    return fingerprint === undefined ? base : { ...base, fingerprint };
  });
  const isAgain = (fault: MeasuredFault) =>
    found.some(({ operation, fingerprint }) => operation === fault.operation && fingerprint === fault.fingerprint);
  return [...found, ...faults.filter((fault) => !isAgain(fault))].slice(0, MOST_FAULTS);
}

/** Describes the faults and the evidence that would clear them. */
export function evidenceNeeded(faults: readonly MeasuredFault[]): string {
  const told = faults.slice(0, MAX_NAMED).map(({ operation, revision, message }) => {
    const what = message.startsWith(`${operation}: `) ? message : `${operation}: ${message}`;
    return `${what} (measured of revision ${revision})`;
  });
  const more = faults.length > MAX_NAMED ? ` and ${faults.length - MAX_NAMED} more` : '';
  return `${told.join('; ')}${more}`;
}
