/** Rows of the keys of data planes. */
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { KnownApiKey } from '../../access/authenticate.ts';
import { markUsed } from '../../access/mark-used.ts';
import { secretHash } from '../../access/secrets.ts';
import type { ApiKeysTable, Schema } from '../../db/schema.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { ApiKeyQuery } from './schemas.ts';

export type ApiKeyRow = Selectable<ApiKeysTable>;
type Db = Kysely<Schema>;

/** Finds the owner of a key and marks it as used; null if the key is unknown or revoked. Never log the key. */
export async function findApiKey(db: Db, key: string): Promise<KnownApiKey | null> {
  const hash = secretHash('dataPlaneKey', key);
  if (hash === null) return null;
  const row = await db
    .selectFrom('api_keys')
    .select(['id', 'project_id', 'name', 'last_used_at'])
    .where('key_hash', '=', hash)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (!row) return null;
  await markUsed(db, 'api_keys', row);
  return { id: row.id, projectId: row.project_id, name: row.name };
}

export function listApiKeys(db: Db, projectId: string, query: ApiKeyQuery): Promise<Page<ApiKeyRow>> {
  return page(db.selectFrom('api_keys').selectAll().where('project_id', '=', projectId), query, {
    columns: { created_at: { column: 'created_at', value: (row) => row.created_at.toISOString() } },
    standard: '-created_at',
    id: { column: 'id', value: (row) => row.id },
  });
}

export function insertApiKey(db: Db, row: Insertable<ApiKeysTable>): Promise<ApiKeyRow> {
  return db.insertInto('api_keys').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Returns the updated row; undefined if no valid key has that id. */
export function revokeApiKey(db: Db, projectId: string, id: string): Promise<ApiKeyRow | undefined> {
  return db
    .updateTable('api_keys')
    .set({ revoked_at: sql<Date>`now()` })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}
