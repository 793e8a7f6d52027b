/**
 * The plugins that a project uses, and its config for each (docs/reference/control-plane.md#project-plugins,
 * docs/decisions.md#one-project).
 */
import type { Actor } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import { violatedConstraint } from '../../db/violations.ts';
import { ControlError } from '../../errors.ts';
import { type Expected, etagOf, ifMatch, mustMatch } from '../../http/etag.ts';
import { mapPage, type Page } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { findProject, lockProject } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import type { PluginChecks } from '../plugins/plugin-checks.ts';
import { redactConfig } from '../plugins/redact-config.ts';
import { findPlugin, versionsOf } from '../plugins/store.ts';
import { compareVersions } from '../plugins/version-order.ts';
import { projectPluginOperations } from './operations.ts';
import type { ProjectPlugin, ProjectPluginInput, ProjectPluginQuery } from './schemas.ts';
import {
  deleteProjectPlugin,
  insertProjectPlugin,
  listProjectPlugins,
  lockProjectPlugin,
  type ProjectPluginRow,
  updateProjectPlugin,
} from './store.ts';

export class ProjectPlugins {
  readonly #context: Context;
  readonly #checks: PluginChecks;

  constructor(context: Context, checks: PluginChecks) {
    this.#context = context;
    this.#checks = checks;
  }

  async list(actor: Actor, projectId: string, query: ProjectPluginQuery = {}): Promise<Page<ProjectPlugin>> {
    actor.mustBe('viewer', projectId, project(projectId));
    const { kysely } = this.#context.db;
    if (!(await findProject(kysely, projectId))) throw ControlError.notFound(project(projectId));
    const show = actor.role === 'viewer' ? redacted : present;
    return mapPage(await listProjectPlugins(kysely, projectId, query), show);
  }

  /** Throws 422 for an unknown plugin, or a config that it would refuse; 409 if the project has the plugin. */
  async add(actor: Actor, projectId: string, input: ProjectPluginInput): Promise<ProjectPlugin> {
    actor.mustBe('editor', projectId, project(projectId));
    if (!(await findProject(this.#context.db.kysely, projectId))) throw ControlError.notFound(project(projectId));
    const record = await this.#checked(input);
    return this.#changing(input, async (db) => {
      if (!(await lockProject(db, projectId))) throw ControlError.notFound(project(projectId));
      const row = await insertProjectPlugin(db, projectId, record);
      await recordChange(db, actor, {
        action: 'projectPlugins.add',
        resource: resourceOf(row),
        after: redacted(row),
      });
      return present(row);
    });
  }

  /** Replaces all of it; throws as `add`. */
  async update(
    actor: Actor,
    projectId: string,
    name: string,
    input: ProjectPluginInput,
    expected: Expected = null,
  ): Promise<ProjectPlugin> {
    actor.mustBe('editor', projectId, project(projectId));
    if (input.plugin_name !== name) {
      throw new ControlError('unprocessable', `plugin_name of the body must be "${name}", as in the path`);
    }
    if (!(await findProject(this.#context.db.kysely, projectId))) throw ControlError.notFound(project(projectId));
    const record = await this.#checked(input);
    return this.#changing(input, async (db) => {
      const before = await mustBeThere(db, projectId, name, expected);
      const row = await updateProjectPlugin(db, projectId, record);
      await recordChange(db, actor, {
        action: 'projectPlugins.update',
        resource: resourceOf(row),
        before: redacted(before),
        after: redacted(row),
      });
      return present(row);
    });
  }

  async remove(actor: Actor, projectId: string, name: string, expected: Expected = null): Promise<void> {
    actor.mustBe('editor', projectId, project(projectId));
    await this.#context.db.kysely.transaction().execute(async (db) => {
      const before = await mustBeThere(db, projectId, name, expected);
      await deleteProjectPlugin(db, projectId, name);
      await recordChange(db, actor, {
        action: 'projectPlugins.remove',
        resource: resourceOf(before),
        before: redacted(before),
      });
    });
  }

  async #checked({ plugin_name, plugin_version, enabled = true, config = {} }: ProjectPluginInput) {
    const plugin = await findPlugin(this.#context.db.kysely, plugin_name, plugin_version);
    if (!plugin) throw await this.#unknown(plugin_name, plugin_version);
    const record = { plugin, enabled, config };
    const { manifest, config_schema: configSchema } = plugin;
    const errors = await this.#checks.faultsOfConfig({ manifest, configSchema, config });
    if (errors.length === 0) return record;
    const detail = `plugin "${plugin_name}" does not accept this config: ${errors[0]?.message}`;
    throw new ControlError('config-invalid', detail, { errors });
  }

  async #unknown(name: string, version: string): Promise<ControlError> {
    const rows = await versionsOf(this.#context.db.kysely, name);
    const versions = rows.map((row) => row.version).sort((a, b) => compareVersions(b, a));
    const detail =
      versions.length === 0
        ? `there is no plugin "${name}": register it, or see GET /plugins for the registered ones`
        : `plugin "${name}" has no version ${version}: there are ${versions.slice(0, 20).join(', ')}`;
    const pointer = versions.length === 0 ? '/plugin_name' : '/plugin_version';
    return new ControlError('config-invalid', detail, { errors: [{ pointer, message: detail }] });
  }

  async #changing<T>(
    { plugin_name, plugin_version }: ProjectPluginInput,
    change: (db: Parameters<typeof insertProjectPlugin>[0]) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#context.db.kysely.transaction().execute(change);
    } catch (error) {
      const constraint = violatedConstraint(error);
      if (constraint === 'project_plugins_name_unique') {
        throw new ControlError('conflict', `the project already has the plugin "${plugin_name}": update it instead`);
      }
      // Deleted since it was looked up.
      if (constraint === 'project_plugins_plugin') throw await this.#unknown(plugin_name, plugin_version);
      throw error;
    }
  }
}

async function mustBeThere(
  db: Parameters<typeof lockProjectPlugin>[0],
  projectId: string,
  name: string,
  expected: Expected,
): Promise<ProjectPluginRow> {
  const row = await lockProjectPlugin(db, projectId, name);
  if (!row) throw ControlError.notFound(`plugin "${name}" in ${project(projectId)}`);
  mustMatch(expected, row.version, `plugin "${name}" of the project`);
  return row;
}

const project = (id: string): string => `project "${id}"`;

const resourceOf = ({ plugin_name, project_id }: ProjectPluginRow) => ({
  type: 'project-plugin',
  id: plugin_name,
  projectId: project_id,
});

/** Redacts a row for the audit log, and for viewers. */
const redacted = (row: ProjectPluginRow): ProjectPlugin =>
  present({ ...row, config: redactConfig(row.config, row.config_schema) });

function present(row: ProjectPluginRow): ProjectPlugin {
  return {
    plugin_name: row.plugin_name,
    plugin_version: row.plugin_version,
    enabled: row.enabled,
    config: row.config,
    etag: etagOf(row.version),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** The plugins of projects over HTTP (docs/reference/control-plane.md#project-plugins). */
export const projectPluginResource = resource(
  projectPluginOperations,
  ({ projectPlugins }: { readonly projectPlugins: ProjectPlugins }) => ({
    'projectPlugins.list': ({ actor, params, query }) => projectPlugins.list(actor, params.id, query),
    'projectPlugins.add': async ({ actor, params, body, reply }) => {
      const added = await projectPlugins.add(actor, params.id, body);
      reply.header('location', `/projects/${params.id}/plugins/${added.plugin_name}`).header('etag', added.etag);
      return added;
    },
    'projectPlugins.update': async ({ actor, params, body, request, reply }) => {
      const updated = await projectPlugins.update(actor, params.id, params.name, body, ifMatch(request));
      reply.header('etag', updated.etag);
      return updated;
    },
    'projectPlugins.remove': ({ actor, params, request }) =>
      projectPlugins.remove(actor, params.id, params.name, ifMatch(request)),
  }),
);
