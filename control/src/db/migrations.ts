/** All migrations, by name, in order. Listed here rather than found in a folder, which a bundle lacks. Forward only. */
import type { Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import * as tables from './migrations/0001-tables.ts';
import * as documentNames from './migrations/0002-document-names.ts';
import * as retention from './migrations/0003-retention.ts';
import * as mcpUpstreams from './migrations/0004-mcp-upstreams.ts';
import * as specBindings from './migrations/0005-spec-bindings.ts';
import * as tokenNames from './migrations/0006-token-names.ts';
import type { Schema } from './schema.ts';

const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-tables': tables,
  '0002-document-names': documentNames,
  '0003-retention': retention,
  '0004-mcp-upstreams': mcpUpstreams,
  '0005-spec-bindings': specBindings,
  '0006-token-names': tokenNames,
};

/**
 * Runs missing migrations, one process at a time. Throws with the name of a failed migration, or for a newer database.
 */
export async function migrate(db: Kysely<Schema>): Promise<{ applied: string[] }> {
  const { error, results = [] } = await migrator(db).migrateToLatest();
  if (error !== undefined) {
    const failed = results.find(({ status }) => status === 'Error')?.migrationName;
    if (failed === undefined) throw await explained(db, error);
    throw new Error(`migration ${failed} failed, and changed nothing`, { cause: error });
  }
  return { applied: results.map(({ migrationName }) => migrationName) };
}

/** Returns the names of pending migrations, in order. */
export async function pendingMigrations(db: Kysely<Schema>): Promise<string[]> {
  const all = await migrator(db).getMigrations();
  return all.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name);
}

/** Throws, with instructions, if migrations are missing. */
export async function mustBeMigrated(db: { pendingMigrations(): Promise<string[]> }): Promise<void> {
  const pending = await db.pendingMigrations();
  if (pending.length === 0) return;
  throw new Error(`the database lacks ${pending.join(', ')}: run gw-control migrate, or leave out --migrate=false`);
}

function migrator(db: Kysely<Schema>): Migrator {
  return new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
}

/** Explains an error: Kysely reports a database that a later version migrated as corrupt. */
async function explained(db: Kysely<Schema>, error: unknown): Promise<unknown> {
  const rows = await db
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom('kysely_migration')
    .select('name')
    .execute()
    .catch(() => []);
  const unknown = rows.map(({ name }) => name).filter((name) => !(name in MIGRATIONS));
  if (unknown.length === 0) return error;
  return new Error(
    `the database has migrations of a later version (${unknown.join(', ')}): run that version of gw-control`,
    { cause: error },
  );
}
