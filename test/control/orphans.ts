/** What interrupted work leaves in a database, for tests. */
import { type RawBuilder, sql } from 'kysely';
import { Blobs } from '../../control/src/db/blobs.ts';
import type { Database } from '../../control/src/db/database.ts';

/** Rows of a table; of those that fit, where `where` says so. */
export async function countOf(db: Database, table: string, where: RawBuilder<unknown> = sql`true`): Promise<number> {
  const query = sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)} where ${where}`;
  const { rows } = await query.execute(db.kysely);
  return rows[0]?.n ?? 0;
}

const REFERRED_TO = sql`sha256 in (
  select sha256 from spec_revisions union select sha256 from plugins union select file_sha256 from artifacts)`;

/** After a sweep that leaves nothing out for being young: all three are to be 0. */
export async function orphansAfterSweep(db: Database) {
  await new Blobs(db.kysely).sweep(0);
  return {
    uploads: await countOf(db, 'blob_uploads'),
    blobs: await countOf(db, 'blobs', sql`not (${REFERRED_TO})`),
    chunks: await countOf(db, 'blob_chunks', sql`blob_key not in (select sha256 from blobs)`),
  };
}

export const NO_ORPHANS = { uploads: 0, blobs: 0, chunks: 0 };
