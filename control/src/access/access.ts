/** Ends open connections at once, on this replica, when their credentials are revoked on any replica. */
import { messageOf } from '@gw/gateway/message-of';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { readRevocation } from './revocations.ts';

/** Milliseconds between checks of the tables, for lost notifications. */
const RECHECK_MS = 15_000;
/** Milliseconds by which a check of the tables reaches further back, for clock differences and open transactions. */
const OVERLAP_MS = 60_000;
/** The longest that a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Credentials of an open connection. */
export interface Credentials {
  /** Id of the API token, if the credentials are one. */
  readonly tokenId?: string;
  /** Id of the data-plane key, if the credentials are one. */
  readonly keyId?: string;
  /** The only project that the credentials give access to. */
  readonly projectId?: string | null;
  /** Milliseconds until they expire, by the clock that decides; null: they never expire. */
  readonly expiresInMs?: number | null;
}

interface Watch {
  readonly credentials: Credentials;
  readonly end: AbortController;
}

type Listener = (id: string) => void;

export class Access {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #watches = new Set<Watch>();
  readonly #keyListeners = new Set<Listener>();
  readonly #projectListeners = new Set<Listener>();
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  /** Last check, by the clock of the database, which also writes times of revocations. */
  #checkedAt: number | null = null;

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
    this.#stopListening = db.notifications.listen(
      'access',
      (payload) => this.#heard(payload),
      () => this.#look(),
    );
    this.#timer = setInterval(() => this.#look(), RECHECK_MS).unref();
  }

  /**
   * Calls the listener with the id of each revoked data-plane key, perhaps twice. Returns a function that removes it.
   */
  onRevokedKey(listener: (keyId: string) => void): () => void {
    this.#keyListeners.add(listener);
    return () => void this.#keyListeners.delete(listener);
  }

  /**
   * Calls the listener with the id of each deleted project, whose keys are invalid. Returns a function that removes it.
   */
  onDeletedProject(listener: (projectId: string) => void): () => void {
    this.#projectListeners.add(listener);
    return () => void this.#projectListeners.delete(listener);
  }

  /**
   * Returns a signal that aborts when the credentials are revoked or expire, until `release` is called. Also checks
   * whether they were revoked since they were verified.
   */
  watch(credentials: Credentials): { readonly signal: AbortSignal; release(): void } {
    const watch: Watch = { credentials, end: new AbortController() };
    this.#watches.add(watch);
    const expiry = this.#atExpiry(watch);
    const release = () => {
      clearTimeout(expiry);
      this.#watches.delete(watch);
    };
    watch.end.signal.addEventListener('abort', release, { once: true });
    if (credentials.tokenId !== undefined || credentials.keyId !== undefined) this.#look();
    return { signal: watch.end.signal, release };
  }

  /**
   * Checks the tables for revocations. Rejects if the database is unavailable: connections stay open until it is back.
   */
  async recheck(): Promise<void> {
    const { kysely } = this.#db;
    const { rows: times } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(kysely);
    const begun = times[0]?.now.getTime() ?? Date.now();
    const since = new Date((this.#checkedAt ?? begun) - OVERLAP_MS);
    const watches = [...this.#watches];
    const tokens = idsOf(watches, ({ tokenId }) => tokenId);
    const keys = idsOf(watches, ({ keyId }) => keyId);
    if (tokens.length > 0) {
      const rows = kysely.selectFrom('api_tokens').select('id').where('id', 'in', tokens);
      const valid = new Set((await rows.where('revoked_at', 'is', null).execute()).map(({ id }) => id));
      end(watches, ({ tokenId }) => tokenId !== undefined && !valid.has(tokenId));
    }
    if (keys.length > 0) {
      const rows = kysely.selectFrom('api_keys').select('id').where('id', 'in', keys);
      const valid = new Set((await rows.where('revoked_at', 'is', null).execute()).map(({ id }) => id));
      end(watches, ({ keyId }) => keyId !== undefined && !valid.has(keyId));
    }
    const revoked = await kysely.selectFrom('api_keys').select('id').where('revoked_at', '>', since).execute();
    for (const { id } of revoked) this.#tell(this.#keyListeners, id);
    const deleted = await kysely
      .selectFrom('audit_entries')
      .select('resource_id')
      .where('action', '=', 'projects.delete')
      .where('at', '>', since)
      .execute();
    for (const { resource_id } of deleted) this.#tell(this.#projectListeners, resource_id);
    this.#checkedAt = begun;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#stopListening();
    for (const { end: controller } of this.#watches) controller.abort(new Error('the server stops'));
  }

  #look(): void {
    this.recheck().catch((error: unknown) => {
      const reason = messageOf(error);
      this.#log.warn({ reason }, 'cannot look up revoked credentials: retrying');
    });
  }

  #heard(payload: string): void {
    const revocation = readRevocation(payload);
    if (revocation === null) return;
    const { kind, id } = revocation;
    if (kind === 'token') end([...this.#watches], ({ tokenId }) => tokenId === id);
    if (kind === 'project') {
      end([...this.#watches], ({ projectId }) => projectId === id);
      this.#tell(this.#projectListeners, id);
    }
    if (kind === 'api-key') {
      end([...this.#watches], ({ keyId }) => keyId === id);
      this.#tell(this.#keyListeners, id);
    }
  }

  #tell(listeners: ReadonlySet<Listener>, id: string): void {
    for (const listener of listeners) listener(id);
  }

  #atExpiry({ credentials: { expiresInMs = null }, end: controller }: Watch): NodeJS.Timeout | undefined {
    if (expiresInMs === null) return undefined;
    const left = Math.max(0, expiresInMs);
    // Beyond the longest timer, a month: connections do not stay open for so long.
    if (left > MAX_TIMER_MS) return undefined;
    return setTimeout(() => controller.abort(new Error('the credentials expired')), left).unref();
  }
}

function idsOf(watches: readonly Watch[], idOf: (credentials: Credentials) => string | undefined): string[] {
  return [...new Set(watches.flatMap(({ credentials }) => idOf(credentials) ?? []))];
}

function end(watches: readonly Watch[], fits: (credentials: Credentials) => boolean): void {
  for (const { credentials, end: controller } of watches) {
    if (fits(credentials)) controller.abort(new Error('the credentials were revoked'));
  }
}
