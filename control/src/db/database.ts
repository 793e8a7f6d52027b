/**
 * The one door to the database: a PostgreSQL server, or PGlite within the process
 * (docs/reference/control-plane.md#database).
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CompiledQuery, Kysely, sql } from 'kysely';
import { Pool, type PoolConfig } from 'pg';
import type { Logger } from 'pino';
import { lockFolder } from './folder-lock.ts';
import { migrate, pendingMigrations } from './migrations.ts';
import { LISTEN_ALL, NotificationHub, type Notifications } from './notifications.ts';
import { PgliteThread } from './pglite-thread.ts';
import { patientConnection, queryConnection } from './postgres-connection.ts';
import { PostgresListener } from './postgres-listener.ts';
import type { Schema } from './schema.ts';
import { isDiskFull } from './transient.ts';
import { TellingDialect } from './unavailable.ts';
import { valueTypes } from './value-types.ts';

/**
 * Errors that the database answers with are `DatabaseError` of `pg`, with `code` and `constraint`, of either kind;
 * without an answer the error is DatabaseUnavailable.
 *
 * The embedded database has one connection. A query within a transaction's callback that goes by `kysely` and not by
 * the transaction waits for the connection that the transaction has; after `acquireTimeoutMs` it fails, as it does on a server whose
 * connections are all in use.
 */
export interface Database {
  readonly kysely: Kysely<Schema>;
  readonly notifications: Notifications;
  readonly kind: 'postgres' | 'pglite';
  /** Runs missing migrations; safe if several replicas start at once. Throws if the database has a later version. */
  migrate(): Promise<{ applied: string[] }>;
  /** Names of migrations not yet applied. */
  pendingMigrations(): Promise<string[]>;
  /** Connections, and requests that wait for one. */
  connections(): { readonly busy: number; readonly idle: number; readonly waiting: number };
  /** Runs a query, for readiness. */
  ping(): Promise<void>;
  /**
   * Reports whether the disk is full, for readiness: tested by writing at the first call, and after a statement that
   * failed for that reason until one succeeds.
   */
  isFull(): Promise<boolean>;
  /** Waits for running queries. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly log?: Logger;
  /** Connections to a server at once, beside the one that listens; 10 by default. */
  readonly maxConnections?: number;
  /** Milliseconds that a query waits for a connection, to be made or to be free; 10,000 by default. */
  readonly acquireTimeoutMs?: number;
}

const ACQUIRE_MS = 10_000;
const IDLE_MS = 30_000;

/**
 * Opens `postgres://…`, `pglite://DIR` (an absolute or relative folder, locked for this process) or `pglite://` (in
 * memory). Rejects if the database cannot be reached, or the folder is in use (FolderLocked).
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, options);
  if (url.startsWith('pglite://')) return openPglite(url.slice('pglite://'.length), options);
  throw new Error('the database URL begins with neither postgres:// nor pglite://');
}

async function openPostgres(url: string, options: DatabaseOptions): Promise<Database> {
  const { log, maxConnections = 10, acquireTimeoutMs = ACQUIRE_MS } = options;
  const config = queryConnection(url);
  const limits = { max: maxConnections, idleTimeoutMillis: IDLE_MS, connectionTimeoutMillis: acquireTimeoutMs };
  const pool = openPool({ ...config, ...limits }, log);
  const storage = new StorageState();
  const kysely = new Kysely<Schema>({ dialect: new TellingDialect({ pool }, storage.noted) });
  const hub = new NotificationHub(kysely);
  const listener = new PostgresListener(config, hub, log);
  try {
    await listener.connect();
  } catch (error) {
    await kysely.destroy();
    const { hostname, port } = new URL(url);
    const reason = error instanceof Error ? error.message || String(error) : String(error);
    throw new Error(`cannot reach the database at ${hostname}:${port || 5432}: ${reason}`, { cause: error });
  }
  return {
    ...operations(kysely, pool, storage),
    kind: 'postgres',
    notifications: hub,
    // Waiting for another replica's migrations takes longer than a statement may.
    migrate: async () => {
      const patient = openPool({ ...patientConnection(url), max: 1 }, log);
      const db = new Kysely<Schema>({ dialect: new TellingDialect({ pool: patient }) });
      return migrate(db).finally(() => db.destroy());
    },
    close: async () => {
      await listener.close();
      await kysely.destroy();
    },
  };
}

async function openPglite(path: string, options: DatabaseOptions): Promise<Database> {
  const folder = path === '' ? undefined : resolve(decodeURIComponent(path));
  const unlock = folder === undefined ? () => {} : lockFolder(folder);
  let thread: PgliteThread | undefined;
  try {
    thread = new PgliteThread(folder === undefined ? undefined : await pgliteFiles(folder));
    await thread.start();
    return await openThread(thread, unlock, options);
  } catch (error) {
    await thread?.close();
    unlock();
    throw error;
  }
}

async function openThread(thread: PgliteThread, unlock: () => void, options: DatabaseOptions): Promise<Database> {
  const { log, acquireTimeoutMs = ACQUIRE_MS } = options;
  const limits = { max: 1, idleTimeoutMillis: 0, connectionTimeoutMillis: acquireTimeoutMs };
  const pool = openPool({ stream: () => thread.stream(), types: valueTypes, ...limits }, log);
  let connections = 0;
  const storage = new StorageState();
  const kysely = new Kysely<Schema>({
    dialect: new TellingDialect(
      {
        pool,
        onCreateConnection: async (connection) => {
          await connection.executeQuery(CompiledQuery.raw(LISTEN_ALL));
          if (++connections > 1) hub.gap();
        },
      },
      storage.noted,
    ),
  });
  const hub = new NotificationHub(kysely);
  pool.on('connect', (client) => client.on('notification', (message) => hub.heard(message)));
  // Listens from here on.
  await sql`select 1`.execute(kysely);
  return {
    ...operations(kysely, pool, storage),
    kind: 'pglite',
    notifications: hub,
    close: async () => {
      await kysely.destroy();
      await thread.close();
      unlock();
    },
  };
}

/**
 * Creates the files of the database in a folder. They are created under another name, so that a process that is killed
 * meanwhile leaves no incomplete database, and in a thread of their own, whose 600 MB are freed with it.
 */
async function pgliteFiles(folder: string): Promise<string> {
  const files = join(folder, 'data');
  if (existsSync(files)) return files;
  const unfinished = join(folder, 'data.unfinished');
  rmSync(unfinished, { recursive: true, force: true });
  const maker = new PgliteThread(unfinished);
  await maker.start().finally(() => maker.close());
  renameSync(unfinished, files);
  return files;
}

/** State of the free space on the database's disk. */
class StorageState {
  /** Null: nothing has been written yet. */
  #full: boolean | null = null;

  readonly noted = (error: unknown): void => {
    if (isDiskFull(error)) this.#full = true;
  };

  async ask(kysely: Kysely<Schema>): Promise<boolean> {
    if (this.#full !== false) this.#full = await isFull(kysely);
    return this.#full;
  }
}

function operations(kysely: Kysely<Schema>, pool: Pool, storage: StorageState) {
  return {
    kysely,
    connections: () => {
      const { totalCount, idleCount, waitingCount } = pool;
      return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
    },
    migrate: () => migrate(kysely),
    pendingMigrations: () => pendingMigrations(kysely),
    isFull: () => storage.ask(kysely),
    ping: async () => void (await sql`select 1`.execute(kysely)),
  };
}

function openPool(config: PoolConfig, log: Logger | undefined): Pool {
  const pool = new Pool(config);
  // Both may occur on an idle connection; without a listener they would end the process.
  pool.on('error', (error) => log?.warn({ reason: error.message }, 'an idle database connection broke'));
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Bytes that need new pages of a table, and cannot be compressed. */
const PROBE_BYTES = 256 << 10;

/** Rolls back the probe. */
class Undo extends Error {}

/** Returns true if writing fails for lack of space: a full disk still answers queries, which report other errors. */
async function isFull(db: Kysely<Schema>): Promise<boolean> {
  try {
    await db.transaction().execute(async (tx) => {
      const chunk = { blob_key: `probe-${randomUUID()}`, n: 0, bytes: randomBytes(PROBE_BYTES) };
      await tx.insertInto('blob_chunks').values(chunk).execute();
      throw new Undo();
    });
  } catch (error) {
    return isDiskFull(error);
  }
  return false;
}
