/** Rows of deployments. */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { DeploymentsTable, DeploymentTargetsTable, Schema } from '../../db/schema.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { DeploymentQuery } from './schemas.ts';

type Db = Kysely<Schema>;
export type TargetRow = Selectable<DeploymentTargetsTable>;
export type DeploymentRow = Omit<Selectable<DeploymentsTable>, 'artifact_hash'> & {
  readonly artifact_hash: string;
  readonly applied: number;
  readonly refused: number;
  readonly waiting: number;
  /** Why the artifact failed when it was deployed before; null if it did not, or was served since. */
  readonly failed_before: string | null;
};

/** Outcomes that show whether an artifact is good; absent or silent data planes show nothing about it. */
const JUDGED = ['succeeded', 'failed', 'rolled_back'] as const;

/** Selects deployments with the current results of their targets. */
function deployments(db: Db) {
  return db
    .selectFrom('deployments')
    .leftJoin('artifacts', 'artifacts.id', 'deployments.artifact_id')
    .selectAll('deployments')
    .select(({ selectFrom }) => {
      const targets = (...statuses: readonly TargetRow['status'][]) =>
        selectFrom('deployment_targets')
          .select((of) => of.fn.countAll<number>().as('count'))
          .whereRef('deployment_targets.deployment_id', '=', 'deployments.id')
          .where('deployment_targets.status', 'in', statuses)
          .$asScalar()
          .$notNull();
      return [
        sql<string>`coalesce(artifacts.artifact_hash, deployments.artifact_hash)`.as('artifact_hash'),
        targets('applied').as('applied'),
        targets('refused').as('refused'),
        targets('pending', 'notified').as('waiting'),
        selectFrom('deployments as before')
          .select(
            sql<
              string | null
            >`case when before.status <> 'succeeded' then coalesce(before.reason, before.status) end`.as('why'),
          )
          .whereRef('before.project_id', '=', 'deployments.project_id')
          .whereRef('before.artifact_id', '=', 'deployments.artifact_id')
          .whereRef('before.created_at', '<', 'deployments.created_at')
          .where('before.status', 'in', JUDGED)
          .orderBy('before.created_at', 'desc')
          .limit(1)
          .as('failed_before'),
      ];
    });
}

export function listDeployments(
  db: Db,
  projectId: string,
  { status, ...at }: DeploymentQuery,
): Promise<Page<DeploymentRow>> {
  let query = deployments(db).where('deployments.project_id', '=', projectId);
  if (status !== undefined) query = query.where('deployments.status', '=', status);
  return page(query, at, {
    columns: { created_at: { column: 'deployments.created_at', value: (row) => row.created_at.toISOString() } },
    standard: '-created_at',
    id: { column: 'deployments.id', value: (row) => row.id },
  });
}

export async function findDeployments(db: Db, projectId: string, ids: readonly string[]): Promise<DeploymentRow[]> {
  if (ids.length === 0) return [];
  return deployments(db).where('deployments.project_id', '=', projectId).where('deployments.id', 'in', ids).execute();
}

export function targetsOf(db: Db, deploymentId: string): Promise<TargetRow[]> {
  return db
    .selectFrom('deployment_targets')
    .selectAll()
    .where('deployment_id', '=', deploymentId)
    .orderBy('name')
    .orderBy('data_plane_id')
    .execute();
}

/** Returns the newest deployment, in progress or not. */
export function lastDeployment(db: Db, projectId: string): Promise<{ id: string } | undefined> {
  return newest(db, projectId).select('id').executeTakeFirst();
}

/**
 * Returns the artifact that was served before `deployed`: the last one that was deployed with success and has not
 * failed since. If `deployed` is itself the result of a rollback, it is one from before its first deployment, not the
 * one just left.
 */
export async function lastGoodArtifact(db: Db, projectId: string, deployed: string | null): Promise<string | null> {
  let query = newest(db, projectId)
    .select('artifact_id')
    .where('status', '=', 'succeeded')
    .where('artifact_id', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('deployments as later')
            .select('later.id')
            .whereRef('later.project_id', '=', 'deployments.project_id')
            .whereRef('later.artifact_id', '=', 'deployments.artifact_id')
            .whereRef('later.created_at', '>', 'deployments.created_at')
            .where('later.status', 'in', ['failed', 'rolled_back']),
        ),
      ),
    );
  if (deployed !== null) {
    query = query.where('artifact_id', '<>', deployed);
    const until = await rolledBackSince(db, projectId, deployed);
    if (until !== null) query = query.where('created_at', '<', until);
  }
  return (await query.executeTakeFirst())?.artifact_id ?? null;
}

/** Returns when the artifact was last deployed otherwise, if the last deployment rolled back to it. */
async function rolledBackSince(db: Db, projectId: string, artifactId: string): Promise<Date | null> {
  const last = await newest(db, projectId).select(['kind', 'artifact_id']).executeTakeFirst();
  if (last === undefined || last.kind === 'deploy' || last.artifact_id !== artifactId) return null;
  const query = newest(db, projectId).select('created_at').where('artifact_id', '=', artifactId);
  return (await query.where('kind', '=', 'deploy').executeTakeFirst())?.created_at ?? null;
}

function newest(db: Db, projectId: string) {
  return db
    .selectFrom('deployments')
    .where('project_id', '=', projectId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1);
}

/** Locks the artifact, so that it is not deleted before the deployment refers to it. */
export function holdArtifact(db: Db, id: string) {
  return db.selectFrom('artifacts').select('project_id').where('id', '=', id).forKeyShare().executeTakeFirst();
}
