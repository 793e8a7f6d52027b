/**
 * Signs of life of this replica, in the table of replicas, and detection of dead ones: their data planes are shown as
 * disconnected until they reconnect elsewhere.
 */
import { hostname } from 'node:os';
import { messageOf } from '@gw/gateway/message-of';
import { VERSION } from '@gw/gateway/version';
import { type Kysely, sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Schema } from '../db/schema.ts';
import { notifyDataPlanes, notifyDeployment } from '../modules/data-planes/notifications.ts';
import { markAway } from '../modules/data-planes/write-entries.ts';

/** Milliseconds between signs of life. */
const BEAT_MS = 2_000;
/** Milliseconds without one after which a replica is dead. */
const DEAD_MS = 10_000;
/** Data planes that have been away for longer are forgotten (days). */
const FORGET_DAYS = 30;
const FORGET_MS = 3_600_000;

export interface MembershipEvents {
  /** Others took this replica for dead: its data planes must be recorded again. */
  revived(): Promise<void>;
}

export class Membership {
  readonly #context: Context;
  readonly #events: MembershipEvents;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | null = null;
  #joined = false;
  /** Time since which each sign of life was written, by `performance.now()`; null while writes fail. */
  #steadySince: number | null = null;
  #forgotAt = Number.NEGATIVE_INFINITY;

  constructor(context: Context, events: MembershipEvents) {
    this.#context = context;
    this.#events = events;
  }

  /** Rejects if the database cannot be queried. */
  async join(): Promise<void> {
    await this.#sign();
    this.#joined = true;
    this.#timer = setInterval(() => this.#beat(), BEAT_MS).unref();
  }

  /** Leaves the table of replicas; call it after the data planes have gone. */
  async leave(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    const { db, replicaId, log } = this.#context;
    const leaving = db.kysely.deleteFrom('replicas').where('id', '=', replicaId).execute();
    await leaving.catch((error: unknown) => log.warn({ reason: String(error) }, 'others will find this replica dead'));
  }

  #beat(): void {
    this.#beating ??= this.#live()
      .catch((error: unknown) => {
        this.#steadySince = null;
        const reason = messageOf(error);
        this.#context.log.warn({ reason }, 'could not write the heartbeat of this replica');
      })
      .finally(() => {
        this.#beating = null;
      });
  }

  async #live(): Promise<void> {
    const isNew = await this.#sign();
    if (isNew && this.#joined) {
      this.#context.log.warn('other replicas considered this one dead');
      await this.#events.revived();
    }
    this.#steadySince ??= performance.now();
    // After an outage of the database, the others need time for a sign of life.
    if (performance.now() - this.#steadySince < DEAD_MS) return;
    await this.#bury();
    if (performance.now() - this.#forgotAt < FORGET_MS) return;
    this.#forgotAt = performance.now();
    await forgetDataPlanes(this.#context.db.kysely);
  }

  /** Writes this replica's row; returns true if it is new. */
  async #sign(): Promise<boolean> {
    const { db, replicaId } = this.#context;
    const { isNew } = await db.kysely
      .insertInto('replicas')
      .values({ id: replicaId, name: `${hostname()}/${process.pid}`, version: VERSION, heartbeat_at: sql<Date>`now()` })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: sql<Date>`now()` }))
      .returning(sql<boolean>`xmax = 0`.as('isNew'))
      .executeTakeFirstOrThrow();
    return isNew;
  }

  async #bury(): Promise<void> {
    const { db, log, metrics } = this.#context;
    const { kysely, notifications } = db;
    const dead = await kysely
      .deleteFrom('replicas')
      .where('heartbeat_at', '<', sql<Date>`now() - make_interval(secs => ${DEAD_MS / 1000})`)
      .returning(['id', 'name'])
      .execute();
    for (const { id, name } of dead) log.warn({ replica: id, name }, 'a replica has died');
    metrics.count('gw_control_replicas_lost_total', {}, dead.length);
    if (!(await hasOrphans(kysely))) return;
    await kysely.transaction().execute(async (tx) => {
      const gone = await disconnectOrphans(tx);
      const deployments = await markAway(tx, gone);
      for (const { project_id, id } of deployments) {
        await notifyDeployment(notifications, tx, { projectId: project_id, id });
      }
      await notifyDataPlanes(notifications, tx, gone);
      log.info({ dataPlanes: gone.length }, 'disconnected the data planes of replicas that are gone');
    });
  }
}

/** Selects data planes that are connected, by the table, to a missing replica. */
function orphans(db: Kysely<Schema>) {
  return db
    .selectFrom('data_planes')
    .where('status', '<>', 'disconnected')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('replicas').select('replicas.id').whereRef('replicas.id', '=', 'data_planes.replica_id'))),
    );
}

async function hasOrphans(db: Kysely<Schema>): Promise<boolean> {
  return (await orphans(db).select('data_planes.id').limit(1).executeTakeFirst()) !== undefined;
}

async function disconnectOrphans(db: Kysely<Schema>) {
  const rows = await orphans(db).select('data_planes.id').orderBy('data_planes.id').forNoKeyUpdate().execute();
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  return db
    .updateTable('data_planes')
    .set({ status: 'disconnected', disconnected_at: sql<Date>`now()`, replica_id: null, connection_id: null })
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .returning(['id', 'project_id'])
    .execute();
}

async function forgetDataPlanes(db: Kysely<Schema>): Promise<void> {
  await db
    .deleteFrom('data_planes')
    .where('status', '=', 'disconnected')
    .where('disconnected_at', '<', sql<Date>`now() - make_interval(days => ${FORGET_DAYS})`)
    .execute();
}
