/** Hints for plugins that documents use and their project does not declare (E1040): the commands to declare them. */
import { type Kysely, sql } from 'kysely';
import type { Schema, StoredDiagnostic } from '../../db/schema.ts';
import type { Job } from './queue.ts';

/** Maximum number of unregistered names in a hint, and of their characters: documents may contain any. */
const MAX_UNKNOWN = 5;
const MAX_NAME = 60;

/** Adds a hint for all undeclared plugins to the first diagnostic about one. */
export async function withDeclarations(
  db: Kysely<Schema>,
  job: Pick<Job, 'project_id' | 'inputs'>,
  diagnostics: readonly StoredDiagnostic[],
): Promise<readonly StoredDiagnostic[]> {
  const first = diagnostics.find(({ code }) => code === 'E1040');
  if (!first) return diagnostics;
  const hint = await hintFor(db, job);
  return hint === null ? diagnostics : diagnostics.map((each) => (each === first ? { ...each, hint } : each));
}

async function hintFor(db: Kysely<Schema>, { project_id, inputs }: Pick<Job, 'project_id' | 'inputs'>) {
  const declared = new Set(inputs.plugins.map(({ name }) => name));
  const missing = (await usedNames(db, inputs)).filter((name) => !declared.has(name));
  if (missing.length === 0) return null;
  const registered = await registeredNames(db, missing);
  const unknown = missing.filter((name) => !registered.has(name));
  const commands = project_id === null ? [] : await commandsFor(db, project_id, [...registered].sort());
  return [
    ...(commands.length > 0 ? [`Declare what the specs use, and compile again: ${commands.join(' && ')}`] : []),
    ...(unknown.length > 0
      ? [`${listed(unknown)}: correct the name, or register it (gw-control plugins register)`]
      : []),
  ].join('. ');
}

/** Returns the names of all dispatchers and middlewares of all operations. */
async function usedNames(db: Kysely<Schema>, { revisions }: Job['inputs']): Promise<string[]> {
  const names = new Set<string>();
  for (const { spec_id, revision } of revisions) {
    const { rows } = await sql<{ name: string }>`
      select distinct used.name from spec_revisions
      cross join lateral json_array_elements(operations) as operation
      cross join lateral (
        select operation #>> '{dispatch,name}' as name
        union all select each ->> 'name' from json_array_elements(operation -> 'middlewares') as each
      ) as used
      where spec_id = ${spec_id}::uuid and revision = ${revision} and used.name is not null`.execute(db);
    for (const { name } of rows) names.add(name);
  }
  return [...names].sort();
}

async function registeredNames(db: Kysely<Schema>, names: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('plugins').select('name').distinct().where('name', 'in', names).execute();
  return new Set(rows.map(({ name }) => name));
}

async function commandsFor(db: Kysely<Schema>, projectId: string, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const project = await db.selectFrom('projects').select('name').where('id', '=', projectId).executeTakeFirst();
  const disabled = await db
    .selectFrom('project_plugins')
    .select('plugin_name')
    .where('project_id', '=', projectId)
    .where('plugin_name', 'in', names)
    .execute();
  const isDisabled = (name: string) => disabled.some(({ plugin_name }) => plugin_name === name);
  return names.map((name) =>
    isDisabled(name)
      ? `gw-control project-plugins update ${name} --enable --project ${project?.name ?? projectId}`
      : `gw-control project-plugins add ${name} --project ${project?.name ?? projectId}`,
  );
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_UNKNOWN).map((name) => JSON.stringify(name.slice(0, MAX_NAME)));
  const more = names.length > shown.length ? `, and ${names.length - shown.length} more` : '';
  return `no plugin is registered as ${shown.join(', ')}${more}`;
}
