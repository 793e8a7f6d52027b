/**
 * The two conditions by which kstatus (Flux, Argo CD, kpt) shows who must act while an object is not Ready:
 * Reconciling, the operator works on it or waits for another object; Stalled, the user must act. Each exists only while
 * it holds. Pure.
 */

import { REASONS, type ReasonName, warnsOnceStalled } from '../../api/reasons.ts';
import type { Condition } from '../../api/shared.ts';
import { rfc3339 } from '../../runtime/conditions.ts';
import type { EventRecord } from '../../runtime/objects.ts';

const RECONCILING = 'Reconciling';
const STALLED = 'Stalled';

/** Reasons with something to do about them that nevertheless mostly pass by themselves. */
const PASSING: ReadonlySet<string> = new Set<ReasonName>([
  'NoReadyPods',
  'NotCompiled',
  'NotReady',
  'NotStored',
  'PodsUnreachable',
]);

/** Milliseconds that something else may take to come: objects of one change are applied in any order. */
export const GRACE_MS = 60_000;

/** Returns the conditions with the applicable one of the two; `before` are those of the current status. */
export function withProgress(
  conditions: readonly Condition[],
  before: readonly Condition[] | undefined,
  now: Date,
): readonly Condition[] {
  const others = conditions.filter(({ type }) => type !== RECONCILING && type !== STALLED);
  const ready = others.find(({ type }) => type === 'Ready');
  if (!ready || ready.status === 'True') return others;
  // The cause that Ready repeats: the first condition that does not hold.
  const cause =
    others.find(
      ({ status, type, message }) => status !== 'True' && type !== 'Ready' && ready.message.includes(message),
    ) ?? ready;
  const type = isStalled(cause, now) ? STALLED : RECONCILING;
  const previous = before?.find((condition) => condition.type === type);
  return [
    ...others,
    {
      ...cause,
      type,
      status: 'True',
      lastTransitionTime: previous?.status === 'True' ? previous.lastTransitionTime : rfc3339(now),
    },
  ];
}

/** Returns an Event for each missing prerequisite when an object stalls for it. */
export function stalledEvents(
  before: readonly Condition[] | undefined,
  after: readonly Condition[] | undefined,
): readonly EventRecord[] {
  const [was, is] = [before, after].map((conditions) => conditions?.find(({ type }) => type === STALLED));
  if (!is || was?.reason === is.reason || !warnsOnceStalled(is.reason)) return [];
  return [{ type: 'Warning', reason: is.reason, action: STALLED, note: is.message }];
}

/** Reports whether an object waits for something that may never come. */
export function isWaiting(conditions: readonly Condition[] | undefined): boolean {
  return conditions?.some(({ type, reason }) => type === RECONCILING && needsUser(reason)) ?? false;
}

function isStalled({ reason, lastTransitionTime }: Condition, now: Date): boolean {
  return needsUser(reason) && (!mayCome(reason) || now.getTime() - Date.parse(lastTransitionTime) >= GRACE_MS);
}

function needsUser(reason: string): boolean {
  if (PASSING.has(reason)) return false;
  const row = Object.entries(REASONS).find(([name]) => name === reason)?.[1];
  return row !== undefined && 'action' in row;
}

/** Reasons that are final: wrong now, or tried and not retried. Other reasons may resolve by themselves. */
const FINAL = new Set<string>(['CompileFailed', 'InvalidSpec', 'NeedsEvidence', 'RolledBack']);

function mayCome(reason: string): boolean {
  return !FINAL.has(reason);
}
