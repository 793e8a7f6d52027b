/** The files of a revision, as the compiler takes them (docs/decisions.md#one-project). */
import { ArchiveError, type ProjectFile } from '@gw/gateway/compiler';
import type { Context } from '../../context.ts';
import { ControlError } from '../../errors.ts';
import { projectFiles } from './read-upload.ts';

export interface SpecFiles {
  /** Name of the document, out of `files`. */
  readonly entry: string;
  /** All files of an archive that `gw compile` would take of a folder. */
  readonly files: readonly ProjectFile[];
}

/** Throws not-found if the spec has no such revision. */
export async function specFiles(
  { db, blobs }: Pick<Context, 'db' | 'blobs'>,
  specId: string,
  revision: number,
): Promise<SpecFiles> {
  const row = await db.kysely
    .selectFrom('spec_revisions')
    .select(['sha256', 'form', 'entry'])
    .where('spec_id', '=', specId)
    .where('revision', '=', revision)
    .executeTakeFirst();
  if (!row) throw ControlError.notFound(`revision ${revision} of spec "${specId}"`);
  const bytes = Buffer.concat(await Array.fromAsync(blobs.read(row.sha256)));
  try {
    return { entry: row.entry, files: await projectFiles(row.form, row.entry, bytes) };
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    throw new Error(`the archive of spec "${specId}" was readable when it came: ${error.message}`, { cause: error });
  }
}
