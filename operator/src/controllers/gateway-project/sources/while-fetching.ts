/** Conditions of a GatewayProject while its sources are fetched again, as after a restart of the operator. Pure. */
import type { GatewayProjectStatus } from '../../../api/gateway-project.ts';
import { isReason } from '../../../api/reasons.ts';
import type { Refusal } from '../../../api/refusal.ts';
import type { GatewayProject } from '../../../api/resources.ts';
import { conditionOf, type Verdict } from '../../../runtime/conditions.ts';

/** Returns the current status, which holds until the fetch ends; undefined if another status applies. */
export function statusWhileFetching(
  project: GatewayProject,
  problems: readonly Refusal[],
): GatewayProjectStatus | undefined {
  const waits = problems.length > 0 && problems.every(({ reason }) => reason === 'Fetching');
  const isCurrent = project.status?.observedGeneration === project.metadata.generation;
  return waits && isCurrent && conditionOf(project, 'Accepted')?.status === 'True' ? project.status : undefined;
}

/** Returns the verdict in a status. */
export function verdictIn(status: GatewayProjectStatus | undefined, type: string): Verdict | undefined {
  const found = conditionOf({ ...(status ? { status } : {}) }, type);
  if (!found || !isReason(found.reason)) return undefined;
  return { type, status: found.status, reason: found.reason, message: found.message };
}
