/** Ends deployments whose outcome is known. Any replica does it, and one of them. */
import { type Kysely, sql } from 'kysely';
import { SYSTEM } from '../../access/actor.ts';
import type { Database } from '../../db/database.ts';
import type { DeploymentsTable, Schema } from '../../db/schema.ts';
import { lockProject, type ProjectRow } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import { notifyDeployment } from '../data-planes/notifications.ts';
import { beginDeployment, lockDataPlanesOf } from './begin-deployment.ts';
import { type Decision, decide, type Progress } from './decide.ts';

/** A deployment that this replica has ended. */
export interface Settled {
  readonly id: string;
  readonly projectId: string;
  readonly kind: DeploymentsTable['kind'];
  readonly status: Exclude<Decision['status'], 'in_progress'>;
  readonly reason: string | null;
  /** Seconds since it began. */
  readonly seconds: number;
}

/** Returns null if the deployment continues, or has ended already. */
export async function settle({ kysely, notifications }: Database, id: string): Promise<Settled | null> {
  const seen = await inProgress(kysely, id);
  if (!seen || decide(seen.progress).status === 'in_progress') return null;
  return kysely.transaction().execute(async (db) => {
    // In the order in which deployments lock them; earlier reads may be outdated.
    const project = await lockProject(db, seen.projectId);
    if (project) await lockDataPlanesOf(db, project.id);
    const found = project && (await inProgress(db, id));
    if (!found) return null;
    const decision = decide(found.progress);
    if (decision.status === 'in_progress') return null;
    const { status, reason, withdrawn = false } = decision;
    await db
      .updateTable('deployments')
      .set({ status, reason, completed_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', id)
      .execute();
    if (found.progress.waiting > 0 && found.progress.expired) await timeOut(db, id);
    await notifyDeployment(notifications, db, { projectId: project.id, id });
    if (withdrawn) await withdraw(db, project, found.artifact, id);
    if (status === 'rolled_back' && found.previous !== null) {
      await beginDeployment(db, notifications, project, SYSTEM, {
        artifactId: found.previous,
        kind: 'automatic_rollback',
        timeoutSeconds: found.timeoutSeconds,
        rollbackThreshold: null,
        rollbackOf: id,
      });
    }
    return { id, projectId: project.id, kind: found.kind, status, reason, seconds: found.seconds };
  });
}

interface InProgress {
  readonly projectId: string;
  readonly kind: DeploymentsTable['kind'];
  /** Never deleted while the deployment is in progress. */
  readonly artifact: string | null;
  /** Artifact to return to. */
  readonly previous: string | null;
  readonly timeoutSeconds: number;
  /** Seconds since it began. */
  readonly seconds: number;
  readonly progress: Progress;
}

async function inProgress(db: Kysely<Schema>, id: string): Promise<InProgress | null> {
  const row = await db
    .selectFrom('deployments')
    .select([
      'project_id',
      'artifact_id',
      'previous_artifact_id',
      'kind',
      'timeout_seconds',
      'rollback_threshold',
      sql<boolean>`expires_at <= now()`.as('expired'),
      sql<number>`extract(epoch from now() - created_at)::float8`.as('seconds'),
    ])
    .where('id', '=', id)
    .where('status', '=', 'in_progress')
    .executeTakeFirst();
  if (!row) return null;
  const { previous_artifact_id, artifact_id, kind } = row;
  const previous = previous_artifact_id === artifact_id ? null : previous_artifact_id;
  return {
    projectId: row.project_id,
    kind,
    artifact: artifact_id,
    previous,
    timeoutSeconds: row.timeout_seconds,
    seconds: row.seconds,
    progress: {
      ...(await answers(db, id)),
      expired: row.expired,
      threshold: row.rollback_threshold,
      canRollBack: previous !== null && kind !== 'automatic_rollback',
      isFirst: previous_artifact_id === null,
    },
  };
}

async function answers(db: Kysely<Schema>, id: string) {
  const rows = await db
    .selectFrom('deployment_targets')
    .select(({ fn }) => [
      'status',
      sql<string | null>`case when status = 'refused' then split_part(reason, ':', 1) end`.as('why'),
      fn.countAll<number>().as('count'),
      sql<number>`extract(epoch from now() - max(updated_at))::float8 * 1000`.as('sinceMs'),
    ])
    .where('deployment_id', '=', id)
    .groupBy(['status', 'why'])
    .orderBy('count', 'desc')
    .execute();
  const count = (...statuses: readonly string[]) =>
    rows.reduce((sum, row) => sum + (statuses.includes(row.status) ? row.count : 0), 0);
  return {
    applied: count('applied'),
    refused: count('refused'),
    waiting: count('pending', 'notified'),
    away: count('disconnected'),
    awayMs: rows.find(({ status }) => status === 'disconnected')?.sinceMs ?? 0,
    reasons: rows.flatMap(({ why, count: each }) => (why === null ? [] : [{ reason: why, count: each }])),
  };
}

/** Withdraws an artifact that all have refused, so that later data planes do not get it. */
async function withdraw(
  db: Kysely<Schema>,
  { id: projectId }: Pick<ProjectRow, 'id'>,
  artifactId: string | null,
  deploymentId: string,
): Promise<void> {
  await db
    .updateTable('projects')
    .set(({ eb }) => ({ deployed_artifact_id: null, version: eb('version', '+', 1), updated_at: sql<Date>`now()` }))
    .where('id', '=', projectId)
    .execute();
  // They were incompatible only with the withdrawn artifact.
  await db
    .updateTable('data_planes')
    .set({ status: 'connected' })
    .where('project_id', '=', projectId)
    .where('status', '=', 'incompatible')
    .execute();
  await recordChange(db, SYSTEM, {
    action: 'deployments.withdraw',
    resource: { type: 'deployment', id: deploymentId, projectId },
    before: { artifact_id: artifactId },
    after: { artifact_id: null },
  });
}

async function timeOut(db: Kysely<Schema>, id: string): Promise<void> {
  await db
    .updateTable('deployment_targets')
    .set({ status: 'timed_out', updated_at: sql<Date>`now()` })
    .where('deployment_id', '=', id)
    .where('status', 'in', ['pending', 'notified'])
    .execute();
}
