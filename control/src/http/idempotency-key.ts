/** The row of one Idempotency-Key: the current run of its request, or the stored answer. */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../db/schema.ts';
import { ControlError } from '../errors.ts';

/** How long an answer is kept; older rows may be deleted. */
export const KEPT_HOURS = 24;
/** Seconds after its last sign of life that a request may be taken over: its replica has died. */
const TAKEN_OVER_SECONDS = 60;

/** For a refusal (status 400 and more), `body` is the input of its problem document. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export class IdempotencyKey {
  readonly #db: Kysely<Schema>;
  readonly #actor: string;
  readonly #key: string;
  /** Identifies this run: a later run that takes over has another, and then this one stores nothing. */
  readonly #claim = randomUUID();

  constructor(db: Kysely<Schema>, actor: string, key: string) {
    this.#db = db;
    this.#actor = actor;
    this.#key = key;
  }

  /**
   * Returns `mine` if the caller is to run the operation, else the stored answer if there is one already. Throws 422 if
   * the key belongs to another request.
   */
  async claim(fingerprint: string): Promise<'mine' | 'under way' | KeptAnswer> {
    // The times of one clock, the database's.
    const { rows } = await sql`
      insert into idempotency_keys as known (actor, key, fingerprint, claim)
      values (${this.#actor}, ${this.#key}, ${fingerprint}, ${this.#claim})
      on conflict (actor, key) do update
        set fingerprint = excluded.fingerprint, claim = excluded.claim, claimed_at = now(), created_at = now(),
          status = null, headers = null, body = null
        where known.created_at < now() - make_interval(hours => ${KEPT_HOURS})
          or (known.status is null and known.fingerprint = excluded.fingerprint
            and known.claimed_at < now() - make_interval(secs => ${TAKEN_OVER_SECONDS}))
      returning claim`.execute(this.#db);
    if (rows.length > 0) return 'mine';
    const row = await this.#row().selectAll().executeTakeFirst();
    if (row && row.fingerprint !== fingerprint) {
      const detail = 'this Idempotency-Key was used for another request: use a new one for each request';
      throw new ControlError('idempotency-key-reused', detail);
    }
    // Without a row, its run has just failed.
    if (!row || row.status === null) return 'under way';
    return { status: row.status, headers: row.headers ?? {}, body: row.body };
  }

  /** Renews the claim. */
  async renew(): Promise<void> {
    await this.#own().set({ claimed_at: sql<Date>`now()` }).execute();
  }

  async keep({ status, headers, body }: KeptAnswer): Promise<void> {
    await this.#own()
      .set({ status, headers: JSON.stringify(headers), body: JSON.stringify(body) })
      .execute();
  }

  /** Deletes the row, as if there had been no request. */
  async release(): Promise<void> {
    await this.#db
      .deleteFrom('idempotency_keys')
      .where('actor', '=', this.#actor)
      .where('key', '=', this.#key)
      .where('claim', '=', this.#claim)
      .execute();
  }

  #row() {
    return this.#db.selectFrom('idempotency_keys').where('actor', '=', this.#actor).where('key', '=', this.#key);
  }

  #own() {
    return this.#db
      .updateTable('idempotency_keys')
      .where('actor', '=', this.#actor)
      .where('key', '=', this.#key)
      .where('claim', '=', this.#claim);
  }
}
