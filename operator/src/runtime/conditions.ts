import type { ReasonName } from '../api/reasons.ts';
import type { Condition } from '../api/shared.ts';

/** A controller's verdict on one condition; the reason is one of the documented table. */
export interface Verdict {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: ReasonName;
  readonly message: string;
}

const MAX_MESSAGE = 4096;

/** Returns the conditions of a status: the last transition keeps its time while the status is equal. */
export function conditions(
  verdicts: readonly Verdict[],
  before: readonly Condition[] | undefined,
  generation: number | undefined,
  now: Date,
): readonly Condition[] {
  return verdicts.map(({ type, status, reason, message }) => {
    const previous = before?.find((condition) => condition.type === type);
    return {
      type,
      status,
      reason,
      message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message,
      observedGeneration: generation ?? 0,
      lastTransitionTime: previous?.status === status ? previous.lastTransitionTime : rfc3339(now),
    };
  });
}

/** Formats a time by RFC 3339 to the second, as metav1.Time. */
export function rfc3339(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}

export function conditionOf(
  object: { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}
