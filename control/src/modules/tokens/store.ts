/** Rows of API tokens. */
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { markUsed } from '../../access/mark-used.ts';
import { secretHash } from '../../access/secrets.ts';
import type { ApiTokensTable, Schema } from '../../db/schema.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { TokenQuery } from './schemas.ts';

export type TokenRow = Selectable<ApiTokensTable>;

/** Remaining time by the clock of the database, which all replicas share. */
interface Remaining {
  readonly expires_in_ms: number | null;
}

type Db = Kysely<Schema>;

/** Finds a valid token and marks it as used; undefined if it is unknown, revoked or expired. */
export async function findToken(db: Db, token: string): Promise<(TokenRow & Remaining) | undefined> {
  const hash = secretHash('apiToken', token);
  if (hash === null) return undefined;
  const row = await db
    .selectFrom('api_tokens')
    .selectAll()
    .select(sql<number | null>`extract(epoch from expires_at - clock_timestamp())::float8 * 1000`.as('expires_in_ms'))
    .where('token_hash', '=', hash)
    .where('revoked_at', 'is', null)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', sql<Date>`clock_timestamp()`)]))
    .executeTakeFirst();
  if (!row) return undefined;
  await markUsed(db, 'api_tokens', row);
  return row;
}

/** Compares with the clock of the database. */
export async function isInFuture(db: Db, time: Date): Promise<boolean> {
  const { rows } = await sql<{ ahead: boolean }>`select ${time}::timestamptz > clock_timestamp() as ahead`.execute(db);
  return rows[0]?.ahead === true;
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

/** Returns the updated row; undefined if there is no unrevoked token of that id. */
export function revokeToken(db: Db, only: string | null, id: string): Promise<TokenRow | undefined> {
  let update = db.updateTable('api_tokens').set({ revoked_at: sql<Date>`now()` });
  if (only !== null) update = update.where('project_id', '=', only);
  return update.where('id', '=', id).where('revoked_at', 'is', null).returningAll().executeTakeFirst();
}
