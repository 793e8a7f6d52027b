/** Begins a deployment: the new desired artifact of the project's data planes, and the targets that must answer. */
import { randomUUIDv7 } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Actor } from '../../access/actor.ts';
import type { Notifications } from '../../db/notifications.ts';
import type { DeploymentsTable, Schema } from '../../db/schema.ts';
import type { ProjectRow } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import { notifyDataPlanes, notifyDeployment } from '../data-planes/notifications.ts';

export interface DeploymentPlan {
  readonly artifactId: string;
  readonly kind: DeploymentsTable['kind'];
  readonly timeoutSeconds: number;
  /** Null: never rolled back automatically. */
  readonly rollbackThreshold: number | null;
  /** The deployment that this one reverts; null if it is not a rollback. */
  readonly rollbackOf: string | null;
}

export interface BegunDeployment {
  readonly id: string;
  /** The one whose place it took. */
  readonly superseded: string | null;
}

/**
 * Takes the place of one in progress. `db`: a transaction that has locked the project's row, and has
 * seen that the artifact is the project's.
 */
export async function beginDeployment(
  db: Kysely<Schema>,
  notifications: Notifications,
  { id: projectId, deployed_artifact_id }: Pick<ProjectRow, 'id' | 'deployed_artifact_id'>,
  actor: Actor,
  plan: DeploymentPlan,
): Promise<BegunDeployment> {
  const superseded = await supersede(db, projectId);
  const previous = superseded ? beforeThat(superseded) : deployed_artifact_id;
  const { artifact_version } = await db
    .selectFrom('artifacts')
    .select('artifact_version')
    .where('id', '=', plan.artifactId)
    .executeTakeFirstOrThrow();
  await db
    .updateTable('projects')
    .set(({ eb }) => ({
      deployed_artifact_id: plan.artifactId,
      version: eb('version', '+', 1),
      updated_at: sql<Date>`now()`,
    }))
    .where('id', '=', projectId)
    .execute();
  const id = randomUUIDv7();
  await db
    .insertInto('deployments')
    .values({
      id,
      project_id: projectId,
      artifact_id: plan.artifactId,
      previous_artifact_id: previous,
      kind: plan.kind,
      target_data_planes: 0,
      timeout_seconds: plan.timeoutSeconds,
      rollback_threshold: plan.rollbackThreshold,
      rollback_of: plan.rollbackOf,
      created_by: actor.name,
      // Time of the lock: ordered by when each got it, not by when each began to wait.
      created_at: sql<Date>`clock_timestamp()`,
      expires_at: sql<Date>`clock_timestamp() + make_interval(secs => ${plan.timeoutSeconds})`,
    })
    .execute();
  await lockDataPlanesOf(db, projectId);
  const targets = await insertTargets(db, projectId, id, artifact_version);
  await db
    .updateTable('deployments')
    .set(
      targets > 0
        ? { target_data_planes: targets }
        : { status: 'succeeded', completed_at: sql<Date>`clock_timestamp()` },
    )
    .where('id', '=', id)
    .execute();
  await notifyDataPlanes(notifications, db, await markReaders(db, projectId, artifact_version));
  await recordChange(db, actor, {
    action: plan.kind === 'deploy' ? 'deployments.deploy' : 'deployments.rollback',
    resource: { type: 'deployment', id, projectId },
    before: { artifact_id: deployed_artifact_id },
    after: { artifact_id: plan.artifactId, kind: plan.kind, target_data_planes: targets },
  });
  if (superseded) await notifyDeployment(notifications, db, { projectId, id: superseded.id });
  await notifyDeployment(notifications, db, { projectId, id });
  return { id, superseded: superseded?.id ?? null };
}

/** Locks in the order that all writers of several rows use. */
export async function lockDataPlanesOf(db: Kysely<Schema>, projectId: string): Promise<void> {
  const rows = db.selectFrom('data_planes').select('id').where('project_id', '=', projectId);
  await rows.orderBy('id').forNoKeyUpdate().execute();
}

type Superseded = NonNullable<Awaited<ReturnType<typeof supersede>>>;

/** Returns the artifact before: one whose deployment was in progress is unproven, unless it was deployed before. */
function beforeThat({ kind, artifact_id, previous_artifact_id }: Superseded): string | null {
  return kind === 'deploy' ? previous_artifact_id : artifact_id;
}

function supersede(db: Kysely<Schema>, projectId: string) {
  return db
    .updateTable('deployments')
    .set({ status: 'superseded', reason: 'another deployment was made', completed_at: sql<Date>`clock_timestamp()` })
    .where('project_id', '=', projectId)
    .where('status', '=', 'in_progress')
    .returning(['id', 'kind', 'artifact_id', 'previous_artifact_id'])
    .executeTakeFirst();
}

/**
 * Adds the connected data planes. A data plane that cannot read the format counts as refused without a notice
 * (docs/decisions.md#version-skew). Returns how many.
 */
async function insertTargets(db: Kysely<Schema>, projectId: string, id: string, artifactVersion: number) {
  const reads = readsFormat(artifactVersion);
  const result = await db
    .insertInto('deployment_targets')
    .columns(['deployment_id', 'data_plane_id', 'name', 'status', 'reason', 'served_hash', 'updated_at'])
    .expression(({ selectFrom }) =>
      selectFrom('data_planes')
        .select([
          sql<string>`${id}::uuid`.as('deployment_id'),
          'data_planes.id',
          'name',
          sql<'pending' | 'refused'>`case when ${reads} then 'pending' else 'refused' end`.as('status'),
          sql<string | null>`case when not ${reads} then
            ${`unsupported-version: it does not read artifacts of format ${artifactVersion}`} end`.as('reason'),
          'current_hash',
          sql<Date>`now()`.as('updated_at'),
        ])
        .where('project_id', '=', projectId)
        .where('data_planes.status', '<>', 'disconnected'),
    )
    .executeTakeFirst();
  return Number(result.numInsertedOrUpdatedRows ?? 0n);
}

/** Marks connected data planes that cannot read their desired artifact. Returns the changed ones. */
function markReaders(db: Kysely<Schema>, projectId: string, artifactVersion: number) {
  const status = sql<
    'connected' | 'incompatible'
  >`case when ${readsFormat(artifactVersion)} then 'connected' else 'incompatible' end`;
  return db
    .updateTable('data_planes')
    .set({ status })
    .where('project_id', '=', projectId)
    .where('status', 'in', ['connected', 'incompatible'])
    .where('status', '<>', status)
    .returning(['id', 'project_id'])
    .execute();
}

/** Returns a condition on rows of data_planes. */
function readsFormat(artifactVersion: number) {
  return sql<boolean>`data_planes.format_versions @> ${String(artifactVersion)}::jsonb`;
}
