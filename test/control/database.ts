/** A new, migrated database for a test, of either kind. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { Client, DatabaseError } from 'pg';
import { type Database, openDatabase } from '../../control/src/db/database.ts';
import { LONG } from '../property-runs.ts';

/** The server that tests make their databases on; its user must be allowed to (`CREATEDB`). */
export const { DATABASE_URL } = process.env;

/** Tests on a server are skipped, unless nothing may be. */
export const NO_SERVER = DATABASE_URL === undefined && process.env['GW_NO_SKIP'] !== '1';

/** A server waits for five seconds each time. */
const DROP_ATTEMPTS = 6;
const OBJECT_IN_USE = '55006';

export type DatabaseKind = Database['kind'];

/** Both kinds with the words that name them in a test; skip `postgres` where there is no DATABASE_URL. */
export const DATABASE_KINDS: readonly (readonly [name: string, kind: DatabaseKind, absent: boolean])[] = [
  ['PGlite', 'pglite', false],
  ['PostgreSQL (needs DATABASE_URL)', 'postgres', NO_SERVER],
];

/**
 * One of them, for tests whose subject is not the database: the server where there is one, since the embedded database
 * takes seconds of CPU time to start. What asks it in ways of its own is tested on both, and `npm run test:long` tests
 * everything on both.
 */
export const DATABASE_AT_HAND = LONG ? DATABASE_KINDS : DATABASE_KINDS.filter(([, kind]) => kind === kindAtHand());

function kindAtHand(): DatabaseKind {
  return DATABASE_URL === undefined ? 'pglite' : 'postgres';
}

export interface TestDatabase {
  readonly url: string;
  readonly db: Database;
  /** Closes it and deletes it. */
  close(): Promise<void>;
}

/** Open and migrated. */
export async function testDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  const empty = await unopenedDatabase(kind);
  const db = await openDatabase(empty.url);
  await db.migrate();
  return {
    url: empty.url,
    db,
    close: async () => {
      await db.close();
      await empty.drop();
    },
  };
}

/** For who opens it themselves, and migrates it: it may be. */
export async function unopenedDatabase(kind = kindAtHand()): Promise<UnopenedDatabase> {
  return kind === 'postgres' ? newServerDatabase() : copyOfTemplate();
}

export interface UnopenedDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Without tables, and where it is PGlite without files, which takes seconds to make. */
export async function emptyDatabase(kind: DatabaseKind): Promise<UnopenedDatabase> {
  return kind === 'postgres' ? newServerDatabase() : newFolder();
}

async function newServerDatabase(): Promise<UnopenedDatabase> {
  const name = `gw_test_${crypto.randomUUID().replaceAll('-', '')}`;
  await onServer(`create database ${name}`);
  const url = new URL(DATABASE_URL ?? '');
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => dropOnServer(name) };
}

/**
 * Not `with (force)`, which fails while autovacuum, a process of the superuser, is in the database; without it the
 * server sends autovacuum away, and waits for what else is about to leave.
 */
async function dropOnServer(name: string): Promise<void> {
  for (let left = DROP_ATTEMPTS; ; left--) {
    await onServer(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = '${name}' and usename = current_user`);
    try {
      return await onServer(`drop database ${name}`);
    } catch (error) {
      if (left === 1 || !(error instanceof DatabaseError) || error.code !== OBJECT_IN_USE) throw error;
    }
  }
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: DATABASE_URL });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** Ends every other connection to the database; but not autovacuum's, which belongs to the superuser. */
export async function cutConnections({ kysely }: Database): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`.execute(kysely);
}

/** Where templates are kept: with what else is made once from the sources. */
const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'gw-test-database');

function newFolder(parent = tmpdir()): UnopenedDatabase {
  const folder = mkdtempSync(join(parent, 'gw-test-database-'));
  return { url: `pglite://${folder}`, drop: async () => rmSync(folder, { recursive: true, force: true }) };
}

/** Copying a database takes 50 ms; making one takes 3 s, once for all processes of a checkout. */
async function copyOfTemplate(): Promise<UnopenedDatabase> {
  const template = join(CACHE, fingerprint());
  if (!existsSync(template)) await makeTemplate(template);
  const empty = newFolder();
  cpSync(template, folderOf(empty), { recursive: true });
  return empty;
}

/** Of what the template is made from. */
function fingerprint(): string {
  const hash = createHash('sha256').update(process.version);
  const migrations = join(import.meta.dirname, '..', '..', 'control', 'src', 'db', 'migrations');
  for (const name of readdirSync(migrations).sort()) hash.update(readFileSync(join(migrations, name)));
  hash.update(readFileSync(createRequire(import.meta.url).resolve('@electric-sql/pglite/pglite.wasm')));
  return hash.digest('hex').slice(0, 16);
}

async function makeTemplate(template: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const made = newFolder(CACHE);
  const db = await openDatabase(made.url);
  await db.migrate();
  await db.close();
  try {
    renameSync(folderOf(made), template);
  } catch (error) {
    // Another process was first.
    if (!existsSync(template)) throw error;
    await made.drop();
  }
}

function folderOf({ url }: UnopenedDatabase): string {
  return url.slice('pglite://'.length);
}
