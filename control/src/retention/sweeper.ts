/**
 * Periodic cleanup, by one replica for all: unused artifacts and compilations, unreferenced bytes, old stored answers.
 */
import { messageOf } from '@gw/gateway/message-of';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { KEPT_HOURS } from '../http/idempotency-key.ts';
import { type RetentionOptions, retain } from './retention.ts';

/** Milliseconds between checks of each replica whether a sweep is due. */
const LOOK_MS = 60_000;
/** Seconds between two sweeps, of whichever replicas. */
const INTERVAL_SECONDS = 600;
/** Milliseconds for which unreferenced bytes are kept: an upload, or their future reference, may be in progress. */
const GRACE_MS = 3_600_000;

export class Sweeper {
  readonly #context: Pick<Context, 'db' | 'blobs' | 'log'>;
  readonly #retention: RetentionOptions;
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(context: Pick<Context, 'db' | 'blobs' | 'log'>, retention: RetentionOptions = {}) {
    this.#context = context;
    this.#retention = retention;
    this.#timer = setInterval(() => {
      this.#sweeping = this.#sweeping.then(async () => void (await this.sweep()));
    }, LOOK_MS).unref();
  }

  /** Waits for a running sweep. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  /** Reports whether a sweep was due, and this replica's turn. */
  async sweep(): Promise<boolean> {
    const { db, blobs, log } = this.#context;
    try {
      if (!(await this.#isOurTurn())) return false;
      const retained = await retain(db, this.#retention);
      const swept = await blobs.sweep(GRACE_MS);
      const { numDeletedRows } = await db.kysely
        .deleteFrom('idempotency_keys')
        .where('created_at', '<', sql<Date>`now() - make_interval(hours => ${KEPT_HOURS})`)
        .executeTakeFirst();
      const gone = { ...retained, blobs: swept, idempotency_keys: Number(numDeletedRows) };
      if (Object.values(gone).some((count) => count > 0)) log.info(gone, 'swept');
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'sweeping broke off');
    }
    return true;
  }

  async #isOurTurn(): Promise<boolean> {
    const { rows } = await sql`
      insert into maintenance (name, begun_at) values ('sweep', now())
      on conflict (name) do update set begun_at = now()
      where maintenance.begun_at < now() - make_interval(secs => ${INTERVAL_SECONDS})
      returning name`.execute(this.#context.db.kysely);
    return rows.length > 0;
  }
}
