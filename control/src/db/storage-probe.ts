/** Whether the database can store anything: a full disk still answers queries. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';
import { isDiskFull } from './transient.ts';

/** Bytes that need new pages of a table, and cannot be compressed. */
const PROBE_BYTES = 256 << 10;

/** Rolls back the probe. */
class Undo extends Error {}

/** Returns true if writing fails for lack of space; other queries report other errors. */
export async function isFull(db: Kysely<Schema>): Promise<boolean> {
  try {
    await db.transaction().execute(async (tx) => {
      const chunk = { blob_key: `probe-${randomUUID()}`, n: 0, bytes: randomBytes(PROBE_BYTES) };
      await tx.insertInto('blob_chunks').values(chunk).execute();
      throw new Undo();
    });
  } catch (error) {
    return isDiskFull(error);
  }
  return false;
}
