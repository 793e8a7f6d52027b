/** Rows of API tokens. */
import type { Insertable, Kysely, Selectable } from 'kysely';
import { markUsed } from '../../access/mark-used.ts';
import { secretHash } from '../../access/secrets.ts';
import type { ApiTokensTable, Schema } from '../../db/schema.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { TokenQuery } from './schemas.ts';

export type TokenRow = Selectable<ApiTokensTable>;
type Db = Kysely<Schema>;

/** The token that holds now, and marks it as used; undefined where it is none, was revoked or has expired. */
export async function findToken(db: Db, token: string): Promise<TokenRow | undefined> {
  const hash = secretHash('apiToken', token);
  if (hash === null) return undefined;
  const row = await db
    .selectFrom('api_tokens')
    .selectAll()
    .where('token_hash', '=', hash)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (!row || (row.expires_at && row.expires_at.getTime() <= Date.now())) return undefined;
  await markUsed(db, 'api_tokens', row);
  return row;
}

/** `only`: the one project that the caller may see; null: all. */
export function listTokens(db: Db, only: string | null, query: TokenQuery): Promise<Page<TokenRow>> {
  let rows = db.selectFrom('api_tokens').selectAll();
  if (only !== null) rows = rows.where('project_id', '=', only);
  return page(rows, query, {
    columns: {
      name: { column: 'name', value: (row) => row.name },
      created_at: { column: 'created_at', value: (row) => row.created_at.toISOString() },
    },
    standard: 'name',
    id: { column: 'id', value: (row) => row.id },
  });
}

export function insertToken(db: Db, row: Insertable<ApiTokensTable>): Promise<TokenRow> {
  return db.insertInto('api_tokens').values(row).returningAll().executeTakeFirstOrThrow();
}

/** The row as it is then; undefined where there is none that was not revoked. */
export function revokeToken(db: Db, only: string | null, id: string): Promise<TokenRow | undefined> {
  let update = db.updateTable('api_tokens').set({ revoked_at: new Date() });
  if (only !== null) update = update.where('project_id', '=', only);
  return update.where('id', '=', id).where('revoked_at', 'is', null).returningAll().executeTakeFirst();
}
