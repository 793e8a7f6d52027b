/** Rows of the plugins that projects use, each with the config schema of its plugin. */
import type { PluginManifest, ProjectPlugin } from '@gw/gateway/compiler';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { ProjectPluginsTable, Schema } from '../../db/schema.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { ProjectPluginQuery } from './schemas.ts';

type Db = Kysely<Schema>;
type Columns = Selectable<ProjectPluginsTable>;

export interface ProjectPluginRow extends Columns {
  readonly config_schema: ProjectPlugin['configSchema'] | null;
}

/** Fields that a caller sets. */
export interface ProjectPluginRecord {
  readonly plugin: { readonly manifest: PluginManifest; readonly config_schema: ProjectPluginRow['config_schema'] };
  readonly enabled: boolean;
  readonly config: Columns['config'];
}

function rows(db: Db, projectId: string) {
  return db
    .selectFrom('project_plugins')
    .innerJoin('plugins', (join) =>
      join
        .onRef('plugins.name', '=', 'project_plugins.plugin_name')
        .onRef('plugins.version', '=', 'project_plugins.plugin_version'),
    )
    .selectAll('project_plugins')
    .select('plugins.config_schema')
    .where('project_id', '=', projectId);
}

export function listProjectPlugins(
  db: Db,
  projectId: string,
  query: ProjectPluginQuery,
): Promise<Page<ProjectPluginRow>> {
  return page<Schema, 'project_plugins' | 'plugins', ProjectPluginRow>(rows(db, projectId), query, {
    columns: {
      plugin_name: { column: 'project_plugins.plugin_name', value: (row) => row.plugin_name },
      created_at: { column: 'project_plugins.created_at', value: (row) => row.created_at.toISOString() },
    },
    standard: 'plugin_name',
    id: { column: 'project_plugins.plugin_name', value: (row) => row.plugin_name },
  });
}

/** Locks the plugin: other transactions that change it wait until this one ends. */
export function lockProjectPlugin(db: Db, projectId: string, name: string): Promise<ProjectPluginRow | undefined> {
  return rows(db, projectId).where('plugin_name', '=', name).forUpdate('project_plugins').executeTakeFirst();
}

/** Breaks `project_plugins_name_unique` or `project_plugins_plugin`. */
export async function insertProjectPlugin(
  db: Db,
  projectId: string,
  { plugin, enabled, config }: ProjectPluginRecord,
): Promise<ProjectPluginRow> {
  const row = await db
    .insertInto('project_plugins')
    .values({
      project_id: projectId,
      plugin_name: plugin.manifest.name,
      plugin_version: plugin.manifest.version,
      enabled,
      config: JSON.stringify(config),
      updated_at: sql<Date>`now()`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, config_schema: plugin.config_schema };
}

/** Breaks `project_plugins_plugin`. */
export async function updateProjectPlugin(
  db: Db,
  projectId: string,
  { plugin, enabled, config }: ProjectPluginRecord,
): Promise<ProjectPluginRow> {
  const row = await db
    .updateTable('project_plugins')
    .set((expression) => ({
      plugin_version: plugin.manifest.version,
      enabled,
      config: JSON.stringify(config),
      version: expression('version', '+', 1),
      updated_at: sql<Date>`now()`,
    }))
    .where('project_id', '=', projectId)
    .where('plugin_name', '=', plugin.manifest.name)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, config_schema: plugin.config_schema };
}

export async function deleteProjectPlugin(db: Db, projectId: string, name: string): Promise<void> {
  await db.deleteFrom('project_plugins').where('project_id', '=', projectId).where('plugin_name', '=', name).execute();
}
