/** Inputs of a compilation, pinned when it is requested: every replica compiles the same at any time. */
import type { Kysely } from 'kysely';
import type { Actor } from '../../access/actor.ts';
import type { CompilationInputs, Schema } from '../../db/schema.ts';
import { ControlError } from '../../errors.ts';
import { defaultPluginSet, projectPluginSet } from '../plugins/load-plugin.ts';

type Db = Kysely<Schema>;

export interface PinnedSpec {
  readonly id: string;
  readonly project_id: string | null;
  readonly revision: number;
}

/** Specs of one compilation. */
const MAX_SPECS = 500;

/** Pins the spec and those to be compiled with it. Throws not-found, and conflicts for those of other projects. */
export async function pinSpecs(
  db: Db,
  actor: Actor,
  specId: string,
  additional: readonly string[],
): Promise<[PinnedSpec, ...PinnedSpec[]]> {
  const ids = [...new Set([specId, ...additional])];
  const rows = await db.selectFrom('specs').select(['id', 'project_id', 'revision']).where('id', 'in', ids).execute();
  const find = (id: string): PinnedSpec => {
    const row = rows.find((each) => each.id === id);
    if (!row) throw ControlError.notFound(`spec "${id}"`);
    actor.mustBe('editor', row.project_id, `spec "${id}"`);
    return row;
  };
  const first = find(specId);
  const others = ids.slice(1).map(find);
  for (const { id, project_id } of others) {
    if (project_id === null || project_id === first.project_id) continue;
    const detail = `spec "${id}" belongs to another project: specs that are compiled together must belong to one project, or to none`;
    throw new ControlError('conflict', detail);
  }
  return [first, ...others];
}

/** Returns all specs of the project; throws a conflict if it has no specs. */
export async function pinProject(db: Db, projectId: string): Promise<readonly PinnedSpec[]> {
  const rows = await db
    .selectFrom('specs')
    .select(['id', 'project_id', 'revision'])
    .where('project_id', '=', projectId)
    .orderBy('name')
    .limit(MAX_SPECS + 1)
    .execute();
  if (rows.length === 0) throw new ControlError('conflict', 'the project has no specs: upload one first');
  if (rows.length > MAX_SPECS) {
    throw new ControlError('conflict', `the project has more than ${MAX_SPECS} specs, which do not compile together`);
  }
  return rows;
}

/**
 * Pins the plugins and upstreams of the project; without a project default plugins, and no upstreams
 * (docs/reference/control-plane.md#compilations).
 */
export async function pinInputs(
  db: Db,
  projectId: string | null,
  specs: readonly PinnedSpec[],
): Promise<CompilationInputs> {
  const revisions = specs.map(({ id, revision }) => ({ spec_id: id, revision }));
  if (projectId === null) return { revisions, plugins: await defaultPluginSet(db), upstreams: {} };
  const project = await db
    .selectFrom('projects')
    .select(['upstreams', 'mcp'])
    .where('id', '=', projectId)
    .executeTakeFirst();
  if (!project) throw ControlError.notFound(`project "${projectId}"`);
  return { revisions, plugins: await projectPluginSet(db, projectId), upstreams: project.upstreams, mcp: project.mcp };
}
