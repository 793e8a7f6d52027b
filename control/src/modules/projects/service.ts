/**
 * Projects: specs, plugin configuration, keys and data planes that belong together
 * (docs/reference/control-plane.md#projects).
 */
import { randomUUIDv7 } from 'node:crypto';
import { mcpFaults } from '@gw/gateway/compiler';
import type { McpSettings } from '@gw/gateway/mcp-settings';
import { CREDENTIALS_HINT, credentialPlaces, hideCredentials } from '@gw/gateway/spec';
import type { Actor } from '../../access/actor.ts';
import { notifyRevocation } from '../../access/revocations.ts';
import type { Context } from '../../context.ts';
import { violatedConstraint } from '../../db/violations.ts';
import { ControlError } from '../../errors.ts';
import { type Expected, mustMatch } from '../../http/etag.ts';
import { mapPage, type Page } from '../../http/pagination.ts';
import { findProject, lockProject, type ProjectRow } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import { present as presentSpec } from '../specs/record.ts';
import type { Spec } from '../specs/schemas.ts';
import { starter } from './init.ts';
import { type ProjectEvent, projectEvents } from './project-events.ts';
import type { InitInput, Project, ProjectInput, ProjectQuery } from './schemas.ts';
import { deleteProject, insertProject, listProjects, updateProject } from './store.ts';

/** A project with the version that its ETag names. */
export interface VersionedProject {
  readonly project: Project;
  readonly version: number;
}

export class Projects {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async list(actor: Actor, query: ProjectQuery = {}): Promise<Page<Project>> {
    actor.mustHave('viewer');
    const show = actor.role === 'viewer' ? shown : present;
    return mapPage(await listProjects(this.#context.db.kysely, actor.projectId, query), show);
  }

  async get(actor: Actor, id: string): Promise<VersionedProject> {
    actor.mustBe('viewer', id, named(id));
    const row = await findProject(this.#context.db.kysely, id);
    if (!row) throw ControlError.notFound(named(id));
    const project = versioned(row);
    return actor.role === 'viewer' ? { ...project, project: shown(row) } : project;
  }

  /** `id`: for programs that embed the control plane and have passed on the id already. */
  async create(actor: Actor, input: ProjectInput, id: string = randomUUIDv7()): Promise<VersionedProject> {
    actor.mustBeGlobal('admin');
    const { name, description = '', upstreams = {}, mcp = {} } = input;
    mustBeUsable(mcp);
    mustHoldNoCredentials(upstreams);
    return this.#changing(name, async (db) => {
      const row = await insertProject(db, { id, name, description, upstreams, mcp });
      await recordChange(db, actor, { action: 'projects.create', resource: resourceOf(row), after: present(row) });
      return versioned(row);
    });
  }

  /**
   * Creates a project with a starter spec and the plugins that it uses (docs/reference/control-plane.md#init). Throws a
   * conflict if these are not registered.
   */
  async init(actor: Actor, input: InitInput): Promise<{ readonly project: Project; readonly spec: Spec }> {
    actor.mustBeGlobal('admin');
    const { project, spec } = await this.#changing(input.name, await starter(this.#context, actor, input));
    return { project: present(project), spec: presentSpec(spec) };
  }

  async update(actor: Actor, id: string, input: ProjectInput, expected: Expected = null): Promise<VersionedProject> {
    actor.mustBe('editor', id, named(id));
    const { name, description = '', upstreams = {}, mcp = {} } = input;
    mustBeUsable(mcp);
    mustHoldNoCredentials(upstreams);
    return this.#changing(name, async (db) => {
      const before = await lockProject(db, id);
      if (!before) throw ControlError.notFound(named(id));
      mustMatch(expected, before.version, named(id));
      // Names are unique over all projects: a caller who may choose one learns which exist.
      if (name !== before.name) mayName(actor);
      const row = await updateProject(db, id, { name, description, upstreams, mcp });
      await recordChange(db, actor, {
        action: 'projects.update',
        resource: resourceOf(row),
        before: shown(before),
        after: shown(row),
      });
      return versioned(row);
    });
  }

  /** Deletes the project with all its resources. Throws a conflict while data planes are connected to it. */
  async delete(actor: Actor, id: string, expected: Expected = null): Promise<void> {
    actor.mustBe('admin', id, named(id));
    await this.#context.db.kysely.transaction().execute(async (db) => {
      const before = await lockProject(db, id);
      if (!before) throw ControlError.notFound(named(id));
      mustMatch(expected, before.version, named(id));
      const { connected } = await db
        .selectFrom('data_planes')
        .select((count) => count.fn.countAll<number>().as('connected'))
        .where('project_id', '=', id)
        .where('status', '!=', 'disconnected')
        .executeTakeFirstOrThrow();
      if (connected > 0) {
        const detail = `${named(id)} has ${connected} connected data planes: stop them, or revoke its API keys, first`;
        throw new ControlError('conflict', detail);
      }
      await deleteProject(db, id);
      await recordChange(db, actor, {
        action: 'projects.delete',
        resource: resourceOf(before),
        before: shown(before),
      });
      await notifyRevocation(this.#context.db.notifications, { kind: 'project', id }, db);
    });
  }

  /** Yields its changes from now on, until `signal` aborts or changes may have been missed. */
  events(actor: Actor, id: string, signal: AbortSignal): AsyncGenerator<ProjectEvent> {
    actor.mustBe('viewer', id, named(id));
    return projectEvents(this.#context, id, signal);
  }

  async #changing<T>(name: string, change: (db: Parameters<typeof insertProject>[0]) => Promise<T>): Promise<T> {
    try {
      return await this.#context.db.kysely.transaction().execute(change);
    } catch (error) {
      if (violatedConstraint(error) !== 'projects_name_unique') throw error;
      throw new ControlError('conflict', `a project "${name}" already exists: choose another name`);
    }
  }
}

/** Credentials must be references: every viewer of the project sees its settings. */
function mustBeUsable(mcp: McpSettings): void {
  const errors = mcpFaults(mcp).map(({ name, message }) => ({ pointer: `/mcp/upstreams/${name}`, message }));
  if (errors.length > 0)
    throw new ControlError('config-invalid', 'the settings of an MCP upstream are not usable', { errors });
}

function mustHoldNoCredentials(upstreams: Readonly<Record<string, string>>): void {
  const errors = credentialPlaces(upstreams, '/upstreams');
  if (errors.length > 0)
    throw new ControlError('config-invalid', `${errors[0]?.message}. ${CREDENTIALS_HINT}`, { errors });
}

function mayName(actor: Actor): void {
  try {
    actor.mustBeGlobal('admin');
  } catch (cause) {
    const detail =
      'renaming a project needs the role "admin" for all projects, as creating one does: send its current name';
    throw new ControlError('forbidden', detail, {}, { cause });
  }
}

const named = (id: string): string => `project "${id}"`;

const resourceOf = ({ id }: ProjectRow) => ({ type: 'project', id, projectId: id });

const versioned = (row: ProjectRow): VersionedProject => ({ project: present(row), version: row.version });

/**
 * Redacts a project for viewers and the audit log: upstreams stored before credentials were refused may contain some.
 */
const shown = (row: ProjectRow): Project => hideCredentials(present(row));

function present(row: ProjectRow): Project {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    upstreams: row.upstreams,
    mcp: row.mcp,
    deployed_artifact_id: row.deployed_artifact_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
