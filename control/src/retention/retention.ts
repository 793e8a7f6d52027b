/** Deletes artifacts and compilations that nothing has needed for a while (docs/decisions.md#retention). */
import { type Kysely, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Schema } from '../db/schema.ts';

export interface RetentionOptions {
  /** Days after which unneeded rows are deleted; null: never. Default: 30. */
  readonly retentionDays?: number | null;
  /** Artifacts of a project that were deployed last and stay, at least 1. Default 10. */
  readonly retentionDeployed?: number;
}

export interface Retained {
  readonly artifacts: number;
  readonly compilations: number;
}

const DAYS = 30;
const DEPLOYED = 10;
/** Maximum rows of one sweep: deleted one by one, so that nobody waits for many. */
const MOST = 500;

/** Starts and stops the clocks of all rows, and deletes those whose time is over. */
export async function retain(
  { kysely: db }: Pick<Database, 'kysely'>,
  { retentionDays = DAYS, retentionDeployed = DEPLOYED }: RetentionOptions,
): Promise<Retained> {
  if (retentionDays === null) return { artifacts: 0, compilations: 0 };
  await markArtifacts(db, retentionDeployed);
  const artifacts = await deleteArtifacts(db, retentionDeployed, retentionDays);
  await markCompilations(db);
  const compilations = await db
    .deleteFrom('compilations')
    .where('unneeded_since', '<', ago(retentionDays))
    .where('status', 'in', ['succeeded', 'failed'])
    .executeTakeFirst();
  return { artifacts, compilations: Number(compilations.numDeletedRows) };
}

const ago = (days: number) => sql<Date>`now() - make_interval(days => ${days})`;

/**
 * Ids of artifacts that are desired, that a data plane reported last (one that is away has it in its cache), that are
 * among the last deployed to their project, or to which a deployment in progress may return.
 */
const needed = (deployed: number) => sql<string>`
  select deployed_artifact_id from projects where deployed_artifact_id is not null
  union select current_artifact_id from data_planes where current_artifact_id is not null
  union select a.id from artifacts a join data_planes d on d.project_id = a.project_id and d.current_hash = a.artifact_hash
  union select previous_artifact_id from deployments where status = 'in_progress' and previous_artifact_id is not null
  union select artifact_id from (
    select artifact_id, row_number() over (partition by project_id order by max(created_at) desc) as n
    from deployments where artifact_id is not null group by project_id, artifact_id
  ) as latest where n <= ${deployed}`;

async function markArtifacts(db: Kysely<Schema>, deployed: number): Promise<void> {
  await sql`update artifacts set unneeded_since = null
    where unneeded_since is not null and id in (${needed(deployed)})`.execute(db);
  await sql`update artifacts set unneeded_since = now()
    where unneeded_since is null and id not in (${needed(deployed)})`.execute(db);
}

async function deleteArtifacts(db: Kysely<Schema>, deployed: number, days: number): Promise<number> {
  const due = await db
    .selectFrom('artifacts')
    .select('id')
    .where('unneeded_since', '<', ago(days))
    .orderBy('unneeded_since')
    .limit(MOST)
    .execute();
  let count = 0;
  for (const { id } of due) if (await deleteArtifact(db, id, deployed)) count++;
  return count;
}

/** Returns false if the artifact is needed meanwhile: waits for a deployment that holds its row. */
function deleteArtifact(db: Kysely<Schema>, id: string, deployed: number): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('artifacts')
      .select('artifact_hash')
      .where('id', '=', id)
      .where('unneeded_since', 'is not', null)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return false;
    const { rows } = await sql`select 1 where ${id}::uuid in (${needed(deployed)})`.execute(tx);
    if (rows.length > 0) return false;
    // The history keeps its hash.
    await tx
      .updateTable('deployments')
      .set({ artifact_hash: row.artifact_hash })
      .where('artifact_id', '=', id)
      .execute();
    await tx.deleteFrom('artifacts').where('id', '=', id).execute();
    return true;
  });
}

/** Marks compilations: one is needed until it has ended, and while its artifact is needed. */
async function markCompilations(db: Kysely<Schema>): Promise<void> {
  const isNeeded = sql<boolean>`(status in ('pending', 'compiling') or exists (
    select from artifacts a where a.id = compilations.artifact_id and a.unneeded_since is null))`;
  await sql`update compilations set unneeded_since = null where unneeded_since is not null and ${isNeeded}`.execute(db);
  await sql`update compilations set unneeded_since = now() where unneeded_since is null and not ${isNeeded}`.execute(
    db,
  );
}
