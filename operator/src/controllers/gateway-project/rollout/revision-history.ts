/**
 * History of each kept revision: when all pods served it, and why it failed. A rollback goes to a revision that was
 * served, never to one that failed (docs/decisions.md#rollback-to-served). Pure.
 */
import type { GatewayProjectStatus, Revision } from '../../../api/gateway-project.ts';
import type { FailedRevision, RolloutStatus } from '../../../api/rollout.ts';
import { rfc3339 } from '../../../runtime/conditions.ts';

export interface RevisionOutcome {
  readonly rollout: RolloutStatus | undefined;
  /** Revision that every wanted pod serves now; undefined if pods differ. */
  readonly served: number | undefined;
  /** A Deployment pins the project to this revision: returning to it does not make it newer. */
  readonly pinned: boolean;
}

/** Returns the kept revisions with their history, from the status before and the state of the rollout. */
export function withHistory(
  revisions: readonly Revision[],
  before: GatewayProjectStatus | undefined,
  { rollout, served, pinned }: RevisionOutcome,
  now: Date,
): readonly Revision[] {
  const known = revisions.map((revision) => ({ ...revision, ...recorded(revision, before) }));
  const newest = known.reduce<string>((latest, { servedAt = '' }) => (servedAt > latest ? servedAt : latest), '');
  return known.map((revision) => {
    if (revision.revision === served) {
      const { failed: _, ...good } = revision;
      const isAnew =
        !pinned && good.servedAt !== newest && rollout?.phase === 'Succeeded' && rollout.revision === served;
      return good.servedAt === undefined || isAnew ? { ...good, servedAt: now.toISOString() } : good;
    }
    const ended = rollout?.phase === 'Failed' || rollout?.phase === 'Aborted';
    if (!ended || rollout.revision !== revision.revision || revision.failed !== undefined) return revision;
    return { ...revision, failed: failureAt(rollout.message ?? rollout.phase, rollout.endedAt ?? rfc3339(now)) };
  });
}

/** Returns the recorded history; older operators recorded only the last rollout and the last failure. */
function recorded(
  { revision, artifactHash }: Revision,
  before: GatewayProjectStatus | undefined,
): Pick<Revision, 'servedAt' | 'failed'> {
  const same = before?.revisions?.find((each) => each.revision === revision && each.artifactHash === artifactHash);
  if (!same || !before) return {};
  const { servedAt, failed } = same;
  if (before.revisions?.some((each) => each.servedAt !== undefined || each.failed !== undefined)) {
    return { ...(servedAt === undefined ? {} : { servedAt }), ...(failed === undefined ? {} : { failed }) };
  }
  const { rollout } = before;
  if (before.failed?.revision === revision) return { failed: failureOf(before.failed) };
  if (rollout?.from === revision && rollout.startedAt !== undefined) return { servedAt: rollout.startedAt };
  return {};
}

function failureOf({ message, at }: FailedRevision): NonNullable<Revision['failed']> {
  return failureAt(message, at);
}

function failureAt(message: string, at: string | undefined): NonNullable<Revision['failed']> {
  return { message: message.slice(0, MAX_MESSAGE), ...(at === undefined ? {} : { at }) };
}

const MAX_MESSAGE = 1024;

type ServedStatus = {
  readonly [Key in 'revisions' | 'revision' | 'rollout']?: GatewayProjectStatus[Key] | undefined;
};

/**
 * Returns the revision that was served before the present one, and did not fail. `rolledBack`: a user has rolled back
 * to the present one, so that the one it replaced does not count.
 */
export function servedBefore(
  { revisions = [], revision, rollout }: ServedStatus,
  rolledBack: boolean,
): Revision | undefined {
  const current = revisions.find((each) => each.revision === revision);
  const isUnderway = rollout?.phase === 'Progressing' && rollout.revision === revision && !rolledBack;
  const until = isUnderway ? undefined : current?.servedAt;
  const candidates = revisions.filter(
    (each) =>
      each.revision !== revision &&
      each.servedAt !== undefined &&
      each.failed === undefined &&
      (until === undefined || each.servedAt < until),
  );
  return candidates.toSorted((a, b) => (a.servedAt ?? '').localeCompare(b.servedAt ?? '')).at(-1);
}
