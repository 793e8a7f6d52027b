/** Rows of data planes. */
import type { Kysely, Selectable } from 'kysely';
import type { DataPlanesTable, Schema } from '../../db/schema.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { DataPlaneQuery } from './schemas.ts';

type Db = Kysely<Schema>;
export type DataPlaneRow = Selectable<DataPlanesTable>;

export function listDataPlanes(
  db: Db,
  projectId: string,
  { status, ...at }: DataPlaneQuery,
): Promise<Page<DataPlaneRow>> {
  let query = db.selectFrom('data_planes').selectAll().where('project_id', '=', projectId);
  if (status !== undefined) query = query.where('status', '=', status);
  return page(query, at, {
    columns: {
      name: { column: 'name', value: (row) => row.name },
      connected_at: { column: 'connected_at', value: (row) => (row.connected_at ?? row.created_at).toISOString() },
    },
    standard: 'name',
    id: { column: 'id', value: (row) => row.id },
  });
}

export async function findDataPlanes(db: Db, projectId: string, ids: readonly string[]): Promise<DataPlaneRow[]> {
  if (ids.length === 0) return [];
  return db.selectFrom('data_planes').selectAll().where('project_id', '=', projectId).where('id', 'in', ids).execute();
}

/** Deletes a data plane that is not connected; returns false if it is connected or does not exist. */
export async function forgetDataPlane(db: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('data_planes')
    .where('id', '=', id)
    .where('status', '=', 'disconnected')
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
