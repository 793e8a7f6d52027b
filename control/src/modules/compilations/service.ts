/** Compilations: asked for here, done by runner.ts (docs/reference/control-plane.md#compilations). */
import { randomUUIDv7 } from 'node:crypto';
import type { Actor } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import { violatedConstraint } from '../../db/violations.ts';
import { ControlError } from '../../errors.ts';
import { sendEvents } from '../../http/event-stream.ts';
import { mapPage, type Page } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { findProject } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import { notifyCompilation } from './notifications.ts';
import { compilationOperations } from './operations.ts';
import { pinInputs, pinProject, pinSpecs } from './pin-inputs.ts';
import { present } from './present.ts';
import type { Compilation, CompilationQuery, CompileRequest, ProjectCompileRequest } from './schemas.ts';
import {
  countWaiting,
  deleteCompilation,
  findCompilation,
  insertCompilation,
  listCompilations,
  lockCompilation,
} from './store.ts';
import { changesOf } from './watch.ts';

type Db = Parameters<typeof insertCompilation>[0];
type Record = Omit<Parameters<typeof insertCompilation>[1], 'id' | 'createdBy'>;

export class Compilations {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /**
   * Compiles with the plugins of its project, or with the default ones if it has no project
   * (docs/reference/control-plane.md#compilations).
   */
  async compileSpec(actor: Actor, specId: string, request: CompileRequest = {}): Promise<Compilation> {
    actor.mustHave('editor');
    const { production = false, additional_specs = [] } = request;
    return this.#enqueue(actor, 'compilations.compileSpec', async (db) => {
      const specs = await pinSpecs(db, actor, specId, additional_specs);
      const [{ project_id: projectId }] = specs;
      return { specId, projectId, production, inputs: await pinInputs(db, projectId, specs) };
    });
  }

  /** Compiles all specs of the project together. */
  async compileProject(actor: Actor, projectId: string, request: ProjectCompileRequest = {}): Promise<Compilation> {
    actor.mustBe('editor', projectId, `project "${projectId}"`);
    const { production = false } = request;
    return this.#enqueue(actor, 'compilations.compileProject', async (db) => {
      await mustExist(db, projectId);
      const specs = await pinProject(db, projectId);
      return { specId: null, projectId, production, inputs: await pinInputs(db, projectId, specs) };
    });
  }

  async listOfSpec(actor: Actor, specId: string, query: CompilationQuery = {}): Promise<Page<Compilation>> {
    const { kysely } = this.#context.db;
    actor.mustHave('viewer');
    const spec = await kysely.selectFrom('specs').select('project_id').where('id', '=', specId).executeTakeFirst();
    if (!spec) throw ControlError.notFound(`spec "${specId}"`);
    actor.mustBe('viewer', spec.project_id, `spec "${specId}"`);
    return mapPage(await listCompilations(kysely, { spec: specId }, query), present);
  }

  async listOfProject(actor: Actor, projectId: string, query: CompilationQuery = {}): Promise<Page<Compilation>> {
    const { kysely } = this.#context.db;
    actor.mustBe('viewer', projectId, `project "${projectId}"`);
    await mustExist(kysely, projectId);
    return mapPage(await listCompilations(kysely, { project: projectId }, query), present);
  }

  async get(actor: Actor, id: string): Promise<Compilation> {
    actor.mustHave('viewer');
    const row = await findCompilation(this.#context.db.kysely, id);
    if (!row) throw ControlError.notFound(named(id));
    actor.mustBe('viewer', row.project_id, named(id));
    return present(row);
  }

  /** The present state and each later one, until it has ended or is deleted, or the signal aborts. */
  async *events(actor: Actor, id: string, signal?: AbortSignal): AsyncGenerator<Compilation> {
    yield* changesOf(this.#context, await this.get(actor, id), signal);
  }

  /** Deletes the record; the artifact stays. Throws a conflict while it runs. */
  async delete(actor: Actor, id: string): Promise<void> {
    const { db } = this.#context;
    await db.kysely.transaction().execute(async (tx) => {
      const locked = await lockCompilation(tx, id);
      const row = locked && (await findCompilation(tx, id));
      if (!row) throw ControlError.notFound(named(id));
      actor.mustBe('editor', row.project_id, named(id));
      if (row.status === 'compiling') throw new ControlError('conflict', `${named(id)} is running: wait until it ends`);
      await deleteCompilation(tx, id);
      const resource = { type: 'compilation', id, projectId: row.project_id };
      await recordChange(tx, actor, { action: 'compilations.delete', resource, before: withoutFindings(present(row)) });
      await notifyCompilation(db.notifications, { ...row, status: 'deleted' }, tx);
    });
  }

  async #enqueue(actor: Actor, action: string, pin: (db: Db) => Promise<Record>): Promise<Compilation> {
    const { db } = this.#context;
    const id = randomUUIDv7();
    try {
      return await db.kysely.transaction().execute(async (tx) => {
        const record = await pin(tx);
        await mustHaveRoom(tx, record.projectId);
        await insertCompilation(tx, { ...record, id, createdBy: actor.name });
        const row = await findCompilation(tx, id);
        if (!row) throw new Error('the compilation that was inserted is not there');
        const after = withoutFindings(present(row));
        await recordChange(tx, actor, {
          action,
          resource: { type: 'compilation', id, projectId: record.projectId },
          after,
        });
        await notifyCompilation(db.notifications, row, tx);
        return present(row);
      });
    } catch (error) {
      if (violatedConstraint(error) === null) throw error;
      throw new ControlError('conflict', 'what was to be compiled was deleted at the same time');
    }
  }
}

/** Maximum waiting compilations of a project. */
const MOST_WAITING = 100;

async function mustHaveRoom(db: Db, projectId: string | null): Promise<void> {
  if (projectId === null || (await countWaiting(db, projectId)) < MOST_WAITING) return;
  throw new ControlError('unavailable', `${MOST_WAITING} compilations of the project wait already: try again later`);
}

async function mustExist(db: Db, projectId: string): Promise<void> {
  if (!(await findProject(db, projectId))) throw ControlError.notFound(`project "${projectId}"`);
}

const named = (id: string): string => `compilation "${id}"`;

/** Returns the compilation for the audit log, without diagnostics, which may be many, and quote documents. */
function withoutFindings({ errors: _, warnings: __, ...rest }: Compilation): object {
  return rest;
}

/** Compilations over HTTP (docs/reference/control-plane.md#compilations). */
export const compilationResource = resource(
  compilationOperations,
  ({ compilations }: { readonly compilations: Compilations }) => ({
    'compilations.compileSpec': async ({ actor, params, body, reply }) => {
      const compilation = await compilations.compileSpec(actor, params.id, body);
      reply.header('location', `/compilations/${compilation.id}`);
      return compilation;
    },
    'compilations.compileProject': async ({ actor, params, body, reply }) => {
      const compilation = await compilations.compileProject(actor, params.id, body);
      reply.header('location', `/compilations/${compilation.id}`);
      return compilation;
    },
    'compilations.listOfSpec': ({ actor, params, query }) => compilations.listOfSpec(actor, params.id, query),
    'compilations.listOfProject': ({ actor, params, query }) => compilations.listOfProject(actor, params.id, query),
    'compilations.get': ({ actor, params }) => compilations.get(actor, params.id),
    'compilations.events': async ({ actor, params, request, reply }) => {
      // Checked first: an unknown id gets 404, not a stream.
      await compilations.get(actor, params.id);
      const stream = request.server.eventStreams.open(request, reply);
      void sendEvents(stream, 'compilation', compilations.events(actor, params.id, stream.signal));
      return reply.send(stream.body);
    },
    'compilations.delete': ({ actor, params }) => compilations.delete(actor, params.id),
  }),
);
