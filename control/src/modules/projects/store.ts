/** Rows of projects. */
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../db/schema.ts';
import { containing } from '../../db/text.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { ProjectRow } from '../../project-scope/project-row.ts';
import type { ProjectQuery } from './schemas.ts';

type Db = Kysely<Schema>;

/** `only`: the one project that the caller may see; null: all. */
export function listProjects(db: Db, only: string | null, { name, ...at }: ProjectQuery): Promise<Page<ProjectRow>> {
  let query = db.selectFrom('projects').selectAll();
  if (only !== null) query = query.where('id', '=', only);
  if (name !== undefined) query = query.where('name', 'ilike', containing(name));
  return page(query, at, {
    columns: {
      name: { column: 'name', value: (row) => row.name },
      created_at: { column: 'created_at', value: (row) => row.created_at.toISOString() },
    },
    standard: 'name',
    id: { column: 'id', value: (row) => row.id },
  });
}

export function insertProject(
  db: Db,
  row: Pick<ProjectRow, 'id' | 'name' | 'description' | 'upstreams' | 'mcp'>,
): Promise<ProjectRow> {
  return db
    .insertInto('projects')
    .values({
      ...row,
      upstreams: JSON.stringify(row.upstreams),
      mcp: JSON.stringify(row.mcp),
      updated_at: sql<Date>`now()`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function updateProject(
  db: Db,
  id: string,
  { name, description, upstreams, mcp }: Pick<ProjectRow, 'name' | 'description' | 'upstreams' | 'mcp'>,
): Promise<ProjectRow> {
  return db
    .updateTable('projects')
    .set((expression) => ({
      name,
      description,
      upstreams: JSON.stringify(upstreams),
      mcp: JSON.stringify(mcp),
      version: expression('version', '+', 1),
      updated_at: sql<Date>`now()`,
    }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteProject(db: Db, id: string): Promise<void> {
  await db.deleteFrom('projects').where('id', '=', id).execute();
}
