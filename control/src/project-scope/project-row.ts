/** A project's row, with the lookups and locks that all its resources share. */
import type { Kysely, Selectable } from 'kysely';
import type { ProjectsTable, Schema } from '../db/schema.ts';

export type ProjectRow = Selectable<ProjectsTable>;
type Db = Kysely<Schema>;

export function findProject(db: Db, id: string): Promise<ProjectRow | undefined> {
  return db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst();
}

/**
 * Locks the project: other transactions that change or delete it wait until this one ends. Those that only refer to it
 * do not: a row of a data plane that is written twice has its references checked again, which would deadlock.
 */
export function lockProject(db: Db, id: string): Promise<ProjectRow | undefined> {
  return db.selectFrom('projects').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}
