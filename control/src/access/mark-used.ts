/** Records when keys and tokens were last used. */
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../db/schema.ts';

/** Milliseconds to which `last_used_at` is kept. */
const PRECISION_MS = 60_000;

/** Ids of those that are being marked: a fleet of data planes asks with one key, all at once. */
const marking = new Set<string>();

interface Used {
  readonly id: string;
  readonly last_used_at: Date | null;
}

/** Records a use now. */
export async function markUsed(
  db: Kysely<Schema>,
  table: 'api_keys' | 'api_tokens',
  { id, last_used_at }: Used,
): Promise<void> {
  // The database's clock decides; this check only saves most of the statements.
  if (Math.abs(Date.now() - (last_used_at?.getTime() ?? 0)) <= PRECISION_MS || marking.has(id)) return;
  marking.add(id);
  try {
    await db
      .updateTable(table)
      .set({ last_used_at: sql<Date>`now()` })
      .where('id', '=', id)
      .where((row) =>
        row.or([
          row('last_used_at', 'is', null),
          row('last_used_at', '<', sql<Date>`now() - make_interval(secs => ${PRECISION_MS / 1000})`),
        ]),
      )
      .execute();
  } finally {
    marking.delete(id);
  }
}
