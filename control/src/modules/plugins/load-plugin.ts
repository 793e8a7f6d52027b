/** The plugins that a compilation takes, out of the registry (docs/reference/control-plane.md#compilations). */
import { BoundedMap } from '@gw/gateway/bounded-map';
import type { ProjectPlugin } from '@gw/gateway/compiler';
import type { Kysely } from 'kysely';
import type { Context } from '../../context.ts';
import type { Blobs } from '../../db/blobs.ts';
import type { Schema } from '../../db/schema.ts';
import { ControlError } from '../../errors.ts';
import { findPlugin } from './store.ts';
import { newestVersion } from './version-order.ts';

/** A plugin that a project uses, with the project's config for it. */
export interface PluginUse {
  readonly name: string;
  readonly version: string;
  readonly config: NonNullable<ProjectPlugin['config']>;
}

/** Bytes of modules that are kept, by their sha256: the same ones are compiled again and again. */
const modules = new BoundedMap<Uint8Array>(64 << 20);

/** Loads a plugin without a project's config. Throws not-found. */
export async function loadPlugin(
  { db, blobs }: Pick<Context, 'db' | 'blobs'>,
  name: string,
  version: string,
): Promise<ProjectPlugin> {
  const row = await findPlugin(db.kysely, name, version);
  if (!row) throw ControlError.notFound(`plugin "${name}" of version ${version}`);
  const { manifest, config_schema, sha256 } = row;
  const wasm = await moduleOf(blobs, sha256);
  return { name, manifest, wasm, ...(config_schema ? { configSchema: config_schema } : {}) };
}

/** Returns the plugins that the project has enabled, by name. */
export function projectPluginSet(db: Kysely<Schema>, projectId: string): Promise<PluginUse[]> {
  return db
    .selectFrom('project_plugins')
    .select(['plugin_name as name', 'plugin_version as version', 'config'])
    .where('project_id', '=', projectId)
    .where('enabled', '=', true)
    .orderBy('plugin_name')
    .execute();
}

/**
 * Plugins of a compilation without a project: the newest release of each (the newest version if it has no release),
 * without config (docs/reference/control-plane.md#compilations).
 */
export async function defaultPluginSet(db: Kysely<Schema>): Promise<PluginUse[]> {
  const rows = await db.selectFrom('plugins').select(['name', 'version']).orderBy('name').execute();
  return [...Map.groupBy(rows, ({ name }) => name)].map(([name, each]) => ({
    name,
    version: newestVersion(each.map(({ version }) => version)),
    config: {},
  }));
}

async function moduleOf(blobs: Blobs, sha256: string): Promise<Uint8Array> {
  const known = modules.use(sha256);
  if (known) return known;
  const module = Buffer.concat(await Array.fromAsync(blobs.read(sha256)));
  modules.set(sha256, module, module.length);
  return module;
}
