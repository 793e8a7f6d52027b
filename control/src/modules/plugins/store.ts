/** Rows of plugins: one a version. */
import type { PluginManifest, ProjectPlugin } from '@gw/gateway/compiler';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { BlobInfo } from '../../db/blobs.ts';
import type { PluginsTable, Schema } from '../../db/schema.ts';
import { containing } from '../../db/text.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { PluginQuery } from './schemas.ts';

export type PluginRow = Selectable<PluginsTable>;
type Db = Kysely<Schema>;

/** Input of a row. */
export interface PluginRecord {
  readonly manifest: PluginManifest;
  readonly configSchema: NonNullable<ProjectPlugin['configSchema']> | null;
  readonly module: BlobInfo;
  readonly builtin: boolean;
}

export function findPlugin(db: Db, name: string, version: string): Promise<PluginRow | undefined> {
  return db
    .selectFrom('plugins')
    .selectAll()
    .where('name', '=', name)
    .where('version', '=', version)
    .executeTakeFirst();
}

/** Locks the plugin: other transactions that change it, or begin to use it, wait until this one ends. */
export function lockPlugin(db: Db, name: string, version: string): Promise<PluginRow | undefined> {
  return db
    .selectFrom('plugins')
    .selectAll()
    .where('name', '=', name)
    .where('version', '=', version)
    .forUpdate()
    .executeTakeFirst();
}

export function versionsOf(db: Db, name: string): Promise<PluginRow[]> {
  return db.selectFrom('plugins').selectAll().where('name', '=', name).execute();
}

/** Returns the config schemas of all versions of each name. */
export async function configSchemasOf(
  db: Db,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly NonNullable<ProjectPlugin['configSchema']>[]>> {
  if (names.length === 0) return new Map();
  const rows = await db.selectFrom('plugins').select(['name', 'config_schema']).where('name', 'in', names).execute();
  const groups = Map.groupBy(rows, ({ name }) => name);
  return new Map(
    [...groups].map(([name, each]) => [name, each.map((row) => row.config_schema).filter((schema) => schema !== null)]),
  );
}

export function listPlugins(db: Db, { name, type, ...at }: PluginQuery): Promise<Page<PluginRow>> {
  let query = db.selectFrom('plugins').selectAll();
  if (name !== undefined) query = query.where('name', 'ilike', containing(name));
  if (type !== undefined) query = query.where('type', '=', type);
  return page(query, at, {
    columns: {
      name: { column: 'name', value: (row) => row.name },
      created_at: { column: 'created_at', value: (row) => row.created_at.toISOString() },
    },
    standard: 'name',
    id: { column: 'id', value: (row) => row.id },
  });
}

/** Returns undefined if the name and version exist. */
export function insertNewPlugin(db: Db, id: string, record: PluginRecord): Promise<PluginRow | undefined> {
  return db
    .insertInto('plugins')
    .values({ id, ...columnsOf(record) })
    .onConflict((conflict) => conflict.constraint('plugins_version_unique').doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function updatePlugin(db: Db, id: string, record: PluginRecord): Promise<PluginRow> {
  const { name: _name, version: _version, ...columns } = columnsOf(record);
  return db.updateTable('plugins').set(columns).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

export async function deletePlugin(db: Db, id: string): Promise<void> {
  await db.deleteFrom('plugins').where('id', '=', id).execute();
}

function columnsOf({ manifest, configSchema, module, builtin }: PluginRecord) {
  return {
    name: manifest.name,
    version: manifest.version,
    type: manifest.type,
    description: manifest.description ?? '',
    manifest: JSON.stringify(manifest),
    config_schema: configSchema && JSON.stringify(configSchema),
    sha256: module.sha256,
    size: module.size,
    builtin,
    updated_at: sql<Date>`now()`,
  };
}
