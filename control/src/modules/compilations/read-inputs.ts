/**
 * Reads the inputs of a compilation from the tables and blobs, as the compiler takes them
 * (docs/decisions.md#one-project).
 */
import { ArchiveError, type Project, type ProjectFile, type ProjectPlugin } from '@gw/gateway/compiler';
import type { Context } from '../../context.ts';
import type { CompilationInputs } from '../../db/schema.ts';
import { ControlError } from '../../errors.ts';
import { loadPlugin } from '../plugins/load-plugin.ts';
import { projectFiles } from '../specs/read-upload.ts';

/** Bytes of all files together: past it the compilation fails. */
const MAX_SOURCES = 128 << 20;

/** The sources are more than one compilation may have. */
export class SourcesTooLarge extends Error {
  constructor() {
    super(`the specs have more than ${MAX_SOURCES >> 20} MiB of files together`);
  }
}

/** Throws SourcesTooLarge, and a not-found ControlError for a spec or plugin that was deleted since. */
export async function readInputs(
  context: Context,
  { revisions, plugins, upstreams, mcp }: CompilationInputs,
): Promise<Omit<Project, 'flags'>> {
  const specs: string[] = [];
  const files: ProjectFile[] = [];
  let size = 0;
  for (const { spec_id, revision } of revisions) {
    const read = await specFiles(context, spec_id, revision);
    specs.push(folderOf(spec_id) + read.entry);
    for (const { name, bytes } of read.files) {
      files.push({ name: folderOf(spec_id) + name, bytes });
      size += bytes.length;
      if (size > MAX_SOURCES) throw new SourcesTooLarge();
    }
  }
  return {
    specs,
    files,
    plugins: await Promise.all(
      plugins.map(
        async ({ name, version, config }): Promise<ProjectPlugin> => ({
          ...(await loadPlugin(context, name, version)),
          config,
        }),
      ),
    ),
    upstreams: Object.fromEntries(Object.entries(upstreams).map(([name, url]) => [name, { url }])),
    ...(mcp === undefined ? {} : { mcp }),
  };
}

/** Returns a folder for each spec: equal names of two specs do not collide, and diagnostics map back to their spec. */
const folderOf = (specId: string): string => `${specId}/`;

/** Returns the diagnostic with its spec, and without folders that only the server knows. */
export function withSpec<D extends { readonly file?: string; readonly message: string }>(
  diagnostic: D,
  { revisions }: Pick<CompilationInputs, 'revisions'>,
): D & { readonly spec_id?: string } {
  const { file, message } = diagnostic;
  const found = revisions.find(({ spec_id }) => file?.startsWith(folderOf(spec_id)));
  const plain = revisions.reduce((text, { spec_id }) => text.replaceAll(folderOf(spec_id), ''), message);
  if (!found || file === undefined) return { ...diagnostic, message: plain };
  return { ...diagnostic, message: plain, file: file.slice(folderOf(found.spec_id).length), spec_id: found.spec_id };
}

interface SpecFiles {
  /** Name of the document, out of `files`. */
  readonly entry: string;
  /** All files of an archive that `gw compile` would take of a folder. */
  readonly files: readonly ProjectFile[];
}

/** Throws not-found if the spec has no such revision. */
async function specFiles(
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
