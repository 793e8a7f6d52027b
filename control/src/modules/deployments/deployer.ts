/**
 * One replica's part in deployments: notifies its data planes of the desired artifact, and ends deployments whose
 * outcome is known. It reads the tables; notifications only trigger earlier reads.
 */
import { messageOf } from '@gw/gateway/message-of';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { DataPlaneChannel } from '../../channel/index.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../db/database.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { closeMoved } from '../data-planes/channel-ports.ts';
import { readDataPlaneNotification, readDeploymentNotification } from '../data-planes/notifications.ts';
import { settle } from './settle.ts';

/** Milliseconds between reads of the tables. */
const LOOK_MS = 1_000;
/** Milliseconds from a notification until a read: many arrive at once while data planes answer. */
const NOTIFIED_MS = 50;

export class Deployer {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #replicaId: string;
  readonly #channel: DataPlaneChannel;
  readonly #metrics: Metrics;
  readonly #stops: readonly (() => void)[];
  readonly #timer: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;
  /** Deployments that this replica's data planes were notified of. */
  readonly #told = new Set<string>();
  /** Projects to refresh at the next read. */
  readonly #notified = new Set<string>();
  #looking: Promise<void> | null = null;
  #again = false;

  constructor({ db, log, metrics, replicaId }: Context, channel: DataPlaneChannel) {
    this.#db = db;
    this.#log = log;
    this.#replicaId = replicaId;
    this.#channel = channel;
    this.#metrics = metrics;
    const { notifications } = db;
    this.#stops = [
      notifications.listen(
        'deployments',
        (payload) => this.#heard(payload),
        () => void channel.refresh(),
      ),
      notifications.listen(
        'data_planes',
        (payload) => {
          const notification = readDataPlaneNotification(payload);
          if (notification?.kind === 'disconnect') channel.disconnect(notification.id);
          if (notification?.kind === 'moved') this.#closeMoved([notification.id]);
        },
        () => this.#closeMoved(),
      ),
    ];
    this.#timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  /** Ends running work; resolves when nothing runs. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    for (const stop of this.#stops) stop();
    await this.#looking;
  }

  /** Reads the tables, once more if a read is running. Never rejects. */
  look(): Promise<void> {
    this.#again = true;
    this.#looking ??= this.#looks().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #looks(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      try {
        await this.#look();
      } catch (error) {
        const reason = messageOf(error);
        this.#log.warn({ reason }, 'cannot read deployments: retrying');
      }
    }
  }

  /** Closes moved connections. If the tables cannot be read, the next connection or gap repeats this. */
  #closeMoved(ids?: readonly string[]): void {
    closeMoved(this.#db.kysely, this.#channel, ids).catch((error: unknown) => {
      this.#log.warn({ reason: messageOf(error) }, 'cannot read where data planes are connected');
    });
  }

  #heard(payload: string): void {
    const notification = readDeploymentNotification(payload);
    if (!notification) return;
    this.#notified.add(notification.projectId);
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.look();
    }, NOTIFIED_MS).unref();
  }

  async #look(): Promise<void> {
    const rows = await this.#db.kysely
      .selectFrom('deployments')
      .select(['id', 'project_id'])
      .where('status', '=', 'in_progress')
      .execute();
    for (const { id, project_id } of rows) {
      if (!this.#told.has(id)) await this.#tell(id, project_id);
      this.#notified.delete(project_id);
    }
    // Projects whose deployments ended at once, or ended without a desired artifact.
    for (const projectId of this.#notified) await this.#channel.refresh(projectId);
    this.#notified.clear();
    const running = new Set(rows.map(({ id }) => id));
    for (const id of this.#told) if (!running.has(id)) this.#told.delete(id);
    for (const { id } of rows) await this.#settle(id);
  }

  async #tell(id: string, projectId: string): Promise<void> {
    await this.#channel.refresh(projectId);
    await this.#db.kysely.transaction().execute(async (db) => {
      const planes = await db
        .selectFrom('data_planes')
        .select('id')
        .where('replica_id', '=', this.#replicaId)
        .where('project_id', '=', projectId)
        .orderBy('id')
        .forNoKeyUpdate()
        .execute();
      if (planes.length === 0) return;
      const ids = planes.map((plane) => plane.id);
      await db
        .updateTable('deployment_targets')
        .set({ status: 'notified', updated_at: sql<Date>`now()` })
        .where('deployment_id', '=', id)
        .where('status', '=', 'pending')
        .where('data_plane_id', '=', sql<string>`any(${ids}::uuid[])`)
        .execute();
    });
    this.#told.add(id);
  }

  async #settle(id: string): Promise<void> {
    const settled = await settle(this.#db, id);
    if (!settled) return;
    const { seconds, ...outcome } = settled;
    this.#log.info({ ...outcome, seconds: Math.round(seconds * 1000) / 1000 }, 'deployment ended');
    const labels = { status: outcome.status };
    this.#metrics.count('gw_control_deployments_total', labels);
    this.#metrics.observe('gw_control_deployment_duration_seconds', labels, seconds);
  }
}
