/** The database of commands that open it themselves, beside or without a server. */

import { yesOrNo } from '@gw/gateway/command-line';
import { Option } from 'commander';
import type { Database } from '../db/database.ts';

export const databaseUrlOption = () =>
  new Option('--database-url <url>', 'postgres://USER:PASSWORD@HOST/DATABASE, or pglite://DIR for the embedded one')
    .env('DATABASE_URL')
    .makeOptionMandatory();

export const migrateOption = () =>
  new Option('--migrate [boolean]', 'run database migrations that are missing')
    .preset('true')
    .argParser(yesOrNo)
    .default(true)
    .env('GW_CONTROL_MIGRATE');

/**
 * Opens the database, and closes it at the end. `instead`: instructions if a running server has the embedded database.
 */
export async function withDatabase<T>(url: string, instead: string, use: (db: Database) => Promise<T>): Promise<T> {
  const [{ openDatabase }, { FolderLocked }] = await Promise.all([
    import('../db/database.ts'),
    import('../db/folder-lock.ts'),
  ]);
  const db = await openDatabase(url).catch((error: unknown) => {
    if (!(error instanceof FolderLocked)) throw error;
    throw new Error(`${error.message}. ${instead}`, { cause: error });
  });
  try {
    return await use(db);
  } finally {
    await db.close();
  }
}
