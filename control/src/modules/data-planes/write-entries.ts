/** Writes reports of data planes: a statement for each kind of entry, all in one transaction. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { SYSTEM } from '../../access/actor.ts';
import type { Database } from '../../db/database.ts';
import type { Schema } from '../../db/schema.ts';
import { recordChange } from '../audit/record-change.ts';
import { notifyDataPlanes, notifyDeployment } from './notifications.ts';

/** Result of a deployment at a data plane. */
export interface Answer {
  readonly deployment_id: string;
  readonly data_plane_id: string;
  readonly status: 'notified' | 'applied' | 'refused';
  readonly reason: string | null;
  readonly served_hash: string | null;
}

/** A sign of life of a data plane, and its artifact. */
export interface Served {
  readonly id: string;
  readonly connection_id: string;
  readonly hash: string | null;
  /** Seconds since then. */
  readonly ago: number;
  /** It has just connected. */
  readonly arrived: boolean;
}

export interface Drifted {
  readonly id: string;
  readonly drifted: boolean;
  readonly wanted: string | null;
  readonly served: string | null;
}

/** A connection has ended. */
export interface Gone {
  readonly id: string;
  readonly connection_id: string;
  /** Seconds since then. */
  readonly ago: number;
}

export interface Entries {
  readonly answers: readonly Answer[];
  readonly served: readonly Served[];
  readonly drifted: readonly Drifted[];
  readonly gone: readonly Gone[];
}

type Db = Kysely<Schema>;
interface Row {
  readonly id: string;
  readonly project_id: string;
}

/** Notifies other replicas of changes after the commit. */
export async function writeEntries({ kysely, notifications }: Database, entries: Entries): Promise<void> {
  await kysely.transaction().execute(async (db) => {
    await lockDataPlanes(db, [
      ...entries.answers.map(({ data_plane_id }) => data_plane_id),
      ...[...entries.served, ...entries.drifted, ...entries.gone].map(({ id }) => id),
    ]);
    const deployments: Row[] = [];
    const planes: Row[] = [];
    if (entries.answers.length > 0) deployments.push(...(await writeAnswers(db, entries.answers)));
    if (entries.served.length > 0) {
      planes.push(...(await writeServed(db, entries.served)));
      deployments.push(...(await markBack(db, entries.served)));
    }
    for (const each of entries.drifted) if (each.drifted) planes.push(...(await writeDrift(db, each)));
    const ids = [...entries.served, ...entries.drifted].map(({ id }) => id);
    if (ids.length > 0) planes.push(...(await endDrift(db, ids)));
    if (entries.gone.length > 0) {
      const gone = await writeGone(db, entries.gone);
      planes.push(...gone);
      deployments.push(...(await markAway(db, gone)));
    }
    for (const { project_id, id } of new Map(deployments.map((row) => [row.id, row])).values()) {
      await notifyDeployment(notifications, db, { projectId: project_id, id });
    }
    await notifyDataPlanes(notifications, db, planes);
  });
}

/** Locks rows in one order, so that concurrent writers of several data planes wait instead of deadlocking. */
async function lockDataPlanes(db: Db, ids: readonly string[]): Promise<void> {
  await db
    .selectFrom('data_planes')
    .select('id')
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Writes answers to deployments in progress; answers to others are late. */
async function writeAnswers(db: Db, answers: readonly Answer[]): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    with answered as (
      update deployment_targets t
      set status = v.status, reason = v.reason, served_hash = v.served_hash, updated_at = now()
      from ${rowsOf(answers, 'deployment_id uuid, data_plane_id uuid, status text, reason text, served_hash text')} v
      where t.deployment_id = v.deployment_id and t.data_plane_id = v.data_plane_id
        and (t.status, t.reason, t.served_hash) is distinct from (v.status, v.reason, v.served_hash)
        and exists (select from deployments d where d.id = t.deployment_id and d.status = 'in_progress')
      returning t.deployment_id
    )
    select id, project_id from deployments where id in (select deployment_id from answered)`.execute(db);
  return rows;
}

/** Returns those that serve something else than before, or have come. */
async function writeServed(db: Db, served: readonly Served[]): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    with heard as (
      select p.id, v.hash, now() - make_interval(secs => v.ago) as at, v.arrived, p.current_hash is distinct from v.hash as changed
      from data_planes p
      join ${rowsOf(served, 'id uuid, connection_id uuid, hash text, ago double precision, arrived boolean')} v
        on v.id = p.id and v.connection_id = p.connection_id
    ), written as (
      update data_planes p set last_seen_at = h.at, current_hash = h.hash, current_artifact_id =
        case when not h.changed then p.current_artifact_id else (
          select a.id from artifacts a where a.project_id = p.project_id and a.artifact_hash = h.hash
          order by a.id = (select deployed_artifact_id from projects where id = p.project_id) desc, a.created_at desc
          limit 1
        ) end
      from heard h where p.id = h.id
      returning p.id, p.project_id, h.changed or h.arrived as tell
    )
    select id, project_id from written where tell`.execute(db);
  return rows;
}

/** Targets of deployments in progress that were away, and are there again. */
async function markBack(db: Db, served: readonly Served[]): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    with back as (
      update deployment_targets t set status = 'notified', updated_at = now()
      from ${rowsOf(served, 'id uuid, connection_id uuid')} v
      join data_planes p on p.id = v.id and p.connection_id = v.connection_id
      join deployments d on d.project_id = p.project_id and d.status = 'in_progress'
      where t.deployment_id = d.id and t.data_plane_id = p.id and t.status = 'disconnected'
      returning t.deployment_id
    )
    select id, project_id from deployments where id in (select deployment_id from back)`.execute(db);
  return rows;
}

async function writeDrift(db: Db, { id, wanted, served }: Drifted): Promise<readonly Row[]> {
  const rows = await db
    .updateTable('data_planes')
    .set({ drift_detected: true, status: 'drifted' })
    .where('id', '=', id)
    .where('status', '<>', 'disconnected')
    .where('drift_detected', '=', false)
    .returning(['id', 'project_id'])
    .execute();
  for (const row of rows) {
    await recordChange(db, SYSTEM, {
      action: 'dataPlanes.drifted',
      resource: resourceOf(row),
      after: { wanted, served },
    });
  }
  return rows;
}

/** Ends the drift of data planes that serve the desired artifact, even if this replica did not see the drift. */
async function endDrift(db: Db, ids: readonly string[]): Promise<readonly Row[]> {
  const { rows } = await sql<Row & { readonly served: string }>`
    update data_planes p
    set drift_detected = false, status = case when p.status = 'drifted' then 'connected' else p.status end
    from projects j join artifacts a on a.id = j.deployed_artifact_id
    where p.id = any(${ids}::uuid[]) and p.drift_detected and j.id = p.project_id and p.current_hash = a.artifact_hash
    returning p.id, p.project_id, p.current_hash as served`.execute(db);
  for (const row of rows) {
    const after = { served: row.served };
    await recordChange(db, SYSTEM, { action: 'dataPlanes.resolved', resource: resourceOf(row), after });
  }
  return rows;
}

/** Marks data planes as gone that have not reconnected. */
async function writeGone(db: Db, gone: readonly Gone[]): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    update data_planes p
    set status = 'disconnected', disconnected_at = now() - make_interval(secs => v.ago), replica_id = null, connection_id = null
    from ${rowsOf(gone, 'id uuid, connection_id uuid, ago double precision')} v
    where p.id = v.id and p.connection_id = v.connection_id
    returning p.id, p.project_id`.execute(db);
  return rows;
}

/** Marks targets of deployments in progress whose data planes have gone. */
export async function markAway(db: Db, gone: readonly Row[]): Promise<readonly Row[]> {
  const ids = gone.map(({ id }) => id);
  if (ids.length === 0) return [];
  const { rows } = await sql<Row>`
    with away as (
      update deployment_targets t set status = 'disconnected', updated_at = now()
      from deployments d
      where d.id = t.deployment_id and d.status = 'in_progress' and t.status in ('pending', 'notified')
        and t.data_plane_id = any(${ids}::uuid[])
      returning t.deployment_id
    )
    select id, project_id from deployments where id in (select deployment_id from away)`.execute(db);
  return rows;
}

/** Returns values as a table in a statement. */
function rowsOf(values: readonly object[], columns: string): RawBuilder<unknown> {
  return sql`(select * from json_to_recordset(${JSON.stringify(values)}::json) as r(${sql.raw(columns)}))`;
}

const resourceOf = ({ id, project_id }: Row) => ({ type: 'data-plane', id, projectId: project_id });
