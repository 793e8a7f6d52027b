/** The revision that the data planes of a project serve, from its status. Pure. */
import type { Revision } from '../../../api/gateway-project.ts';
import type { GatewayProject } from '../../../api/resources.ts';
import type { RolloutStatus } from '../../../api/rollout.ts';

export interface DesiredRevision {
  readonly revision: Revision;
  /**
   * Identifies the rollout: the same artifact in a new rollout is a new attempt, so that a refused one is tried again.
   */
  readonly attempt: string;
}

/** Identifies a rollout among others of the same revision. */
export function attemptOf({ revision, startedAt }: RolloutStatus): string {
  return `${revision}@${startedAt}`;
}

/** Returns the revision for gateway pods that take artifacts in place; undefined: each keeps its own. */
export function desiredOfPods({ spec, status }: GatewayProject): DesiredRevision | undefined {
  if (spec.rollout.strategy !== 'InPlace') return undefined;
  return find(status, status?.revision);
}

/**
 * Returns the revision for sidecars: the newest that gateway pods have shown to be good, or the newest if no revision
 * has. A revision given while there were no gateway pods stays. With InPlace, sidecars and gateway pods change together.
 */
export function desiredOfSidecars({ status }: GatewayProject): DesiredRevision | undefined {
  const { rollout } = status ?? {};
  const given = rollout?.phase === 'Succeeded' || (rollout?.phase === 'Progressing' && rollout.unserved === true);
  const proven = given || rollout?.strategy === 'InPlace' || rollout?.from === undefined;
  return find(status, proven ? status?.revision : rollout.from);
}

function find(status: GatewayProject['status'], number: number | undefined): DesiredRevision | undefined {
  const revision = status?.revisions?.find((kept) => kept.revision === number);
  const { rollout } = status ?? {};
  if (!revision || !rollout) return undefined;
  const its = rollout.revision === number;
  return { revision, attempt: its ? attemptOf(rollout) : `${number}@${rollout.endedAt ?? rollout.startedAt}` };
}
