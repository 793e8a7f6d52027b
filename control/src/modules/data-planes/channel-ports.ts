/** Implements `ChannelPorts`, the host of the data-plane channel, on the database of the control plane. */
import { randomUUIDv7 } from 'node:crypto';
import { ARTIFACT_VERSION } from '@gw/gateway/artifact';
import type { Hello } from '@gw/gateway/link-protocol';
import { messageOf } from '@gw/gateway/message-of';
import { type Kysely, sql } from 'kysely';
import { secretHash } from '../../access/secrets.ts';
import type { Admission, ChannelPorts, DataPlane, DataPlaneChannel, Refusal } from '../../channel/index.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../db/database.ts';
import type { Schema } from '../../db/schema.ts';
import { findApiKey } from '../api-keys/store.ts';
import { desiredArtifactOf } from './desired-artifact.ts';
import type { Journal } from './journal.ts';
import { notifyMoved } from './notifications.ts';

/** Data planes that a project has, those that are away included. */
const MAX_DATA_PLANES = 20_000;

export function dataPlanePorts({ db, replicaId, log, metrics }: Context, journal: Journal): ChannelPorts {
  const { kysely } = db;
  return {
    authenticate: (hello) => admit(kysely, hello),
    wanted: (projectId) => desiredArtifactOf(kysely, projectId),
    deploying: (projectId) => isDeploying(kysely, projectId),
    connected: async (plane) => {
      if (!(await markConnected(db, replicaId, plane))) throw new Error('the data plane was forgotten meanwhile');
      journal.arrived(plane);
      log.info({ dataPlane: plane.dataPlaneId, name: plane.name, address: plane.address }, 'data plane connected');
    },
    seen: (plane) => journal.seen(plane),
    reported: (plane, status) => {
      journal.reported(plane, status);
      const { outcome, reason, detail, deployment_id: deployment } = status;
      metrics.count('gw_control_data_plane_reports_total', { outcome });
      if (outcome === 'applied') return;
      log.warn({ dataPlane: plane.dataPlaneId, name: plane.name, deployment, reason, detail }, 'data plane rejected');
    },
    drifted: (plane, report) => {
      journal.drifted(plane, report);
      log.warn({ dataPlane: plane.dataPlaneId, name: plane.name, ...report }, 'data plane drift');
    },
    disconnected: (plane, reason) => {
      journal.left(plane);
      log.info({ dataPlane: plane.dataPlaneId, name: plane.name, reason }, 'data plane disconnected');
    },
    failed: (error) => {
      const reason = messageOf(error);
      log.warn({ reason }, 'the data-plane channel failed: retrying');
    },
  };
}

/** Looks the key up, and gives a data plane that comes for the first time a row. */
async function admit(db: Kysely<Schema>, hello: Hello): Promise<Admission | Refusal> {
  const key = await findApiKey(db, hello.api_key);
  if (!key) return unknownKey(db, hello.api_key);
  if (key.projectId !== hello.project_id.toLowerCase()) {
    return { refused: 'unknown-project', detail: 'The API key does not belong to this project: check --project-id.' };
  }
  const { artifact_versions: reads, gw_version: version } = hello;
  if (!reads.includes(ARTIFACT_VERSION) && !(await hasArtifactOf(db, key.projectId, reads))) {
    const detail = `gw ${version} reads artifacts of format ${reads.join(', ')}, but this control plane has format ${ARTIFACT_VERSION}: run another version of gw.`;
    return { refused: 'unsupported-version', detail };
  }
  const found = await findOrMake(db, key.projectId, key.id, hello);
  if (found === undefined) {
    const detail = `The project has ${MAX_DATA_PLANES} data planes: remove those that are gone for good.`;
    return { refused: 'too-many', detail };
  }
  return { dataPlaneId: found, projectId: key.projectId, keyId: key.id };
}

/** Reports whether the project has an older artifact that it can read, by import or from before an upgrade. */
async function hasArtifactOf(db: Kysely<Schema>, projectId: string, versions: readonly number[]): Promise<boolean> {
  const found = await db
    .selectFrom('artifacts')
    .select('id')
    .where('project_id', '=', projectId)
    .where('artifact_version', 'in', versions)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Refuses an unknown key; the holder of a revoked key learns that it was revoked. */
async function unknownKey(db: Kysely<Schema>, key: string): Promise<Refusal> {
  const hash = secretHash('dataPlaneKey', key);
  const revoked =
    hash !== null && (await db.selectFrom('api_keys').select('id').where('key_hash', '=', hash).executeTakeFirst());
  return revoked
    ? { refused: 'revoked', detail: 'The API key was revoked: give this data plane another.' }
    : { refused: 'bad-key', detail: 'No project has this API key: check GW_API_KEY.' };
}

/**
 * Returns the id of the data plane, which is disconnected until `connected`; undefined if the project has too many. The
 * limit is not exact: data planes that come at once may pass it.
 */
async function findOrMake(db: Kysely<Schema>, projectId: string, keyId: string, hello: Hello) {
  const { name, instance_id, gw_version, artifact_versions } = hello;
  const known = await db
    .selectFrom('data_planes')
    .select('id')
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .where('instance_id', '=', instance_id)
    .executeTakeFirst();
  if (known) return known.id;
  const { rows } = await sql<{ id: string }>`
    insert into data_planes (id, project_id, name, instance_id, status, gw_version, format_versions, api_key_id,
      connected_at, disconnected_at)
    select ${randomUUIDv7()}::uuid, ${projectId}::uuid, ${name}, ${instance_id}, 'disconnected', ${gw_version},
      ${JSON.stringify(artifact_versions)}::jsonb, ${keyId}::uuid, now(), now()
    where (select count(*) from data_planes where project_id = ${projectId}::uuid) < ${MAX_DATA_PLANES}
    -- An update, since a conflict without one returns no row.
    on conflict (project_id, name, instance_id) do update set gw_version = excluded.gw_version
    returning id`.execute(db);
  return rows[0]?.id;
}

/** Returns false if its row was deleted. */
async function markConnected(
  { kysely, notifications }: Database,
  replicaId: string,
  plane: DataPlane,
): Promise<boolean> {
  return kysely.transaction().execute(async (db) => {
    const before = await db
      .selectFrom('data_planes')
      .select('replica_id')
      .where('id', '=', plane.dataPlaneId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!before) return false;
    await writeConnected(db, replicaId, plane);
    const isElsewhere = before.replica_id !== null && before.replica_id !== replicaId;
    if (isElsewhere) await notifyMoved(notifications, db, plane.dataPlaneId);
    return true;
  });
}

async function writeConnected(db: Kysely<Schema>, replicaId: string, plane: DataPlane): Promise<void> {
  await db
    .updateTable('data_planes')
    .set({
      status: statusOf(plane.artifactVersions),
      gw_version: plane.version,
      format_versions: JSON.stringify(plane.artifactVersions),
      api_key_id: plane.keyId,
      replica_id: replicaId,
      connection_id: plane.connectionId,
      address: plane.address,
      connected_at: sql<Date>`now()`,
      disconnected_at: null,
      last_seen_at: sql<Date>`now()`,
    })
    .where('id', '=', plane.dataPlaneId)
    .execute();
}

/**
 * Closes connections of this replica whose data planes have since connected to another one: an instance id has one open
 * connection over all replicas. `ids`: those to check; default all that are connected here.
 */
export async function closeMoved(
  db: Kysely<Schema>,
  channel: Pick<DataPlaneChannel, 'planes' | 'replaced'>,
  ids: readonly string[] = channel.planes().map(({ dataPlaneId }) => dataPlaneId),
): Promise<void> {
  const rows = await db
    .selectFrom('data_planes')
    .select(['id', 'connection_id'])
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('connection_id', 'is not', null)
    .execute();
  // The channel closes a connection only if it is another one than this.
  for (const { id, connection_id } of rows) if (connection_id !== null) channel.replaced(id, connection_id);
}

/**
 * Status of a connected data plane that reads these versions of artifacts, for an update of `data_planes`. Drift from
 * before stays until it serves the desired artifact.
 */
function statusOf(artifactVersions: readonly number[]) {
  return sql<'connected' | 'drifted' | 'incompatible'>`case
    when not coalesce((
      select ${JSON.stringify(artifactVersions)}::jsonb @> to_jsonb(a.artifact_version)
      from projects j join artifacts a on a.id = j.deployed_artifact_id where j.id = data_planes.project_id
    ), true) then 'incompatible'
    when data_planes.drift_detected then 'drifted'
    else 'connected' end`;
}

/** Records this replica's data planes again, after other replicas took it for dead. */
export async function reclaim(db: Kysely<Schema>, replicaId: string, planes: readonly DataPlane[]): Promise<void> {
  for (const plane of planes) {
    await db
      .updateTable('data_planes')
      .set({
        status: statusOf(plane.artifactVersions),
        replica_id: replicaId,
        connection_id: plane.connectionId,
        disconnected_at: null,
      })
      .where('id', '=', plane.dataPlaneId)
      .where('status', '=', 'disconnected')
      .execute();
  }
}

async function isDeploying(db: Kysely<Schema>, projectId: string): Promise<boolean> {
  const rows = db.selectFrom('deployments').select('id').where('project_id', '=', projectId);
  return (await rows.where('status', '=', 'in_progress').executeTakeFirst()) !== undefined;
}
