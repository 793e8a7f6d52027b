/** Rows of compilations, as they are asked for and shown; queue.ts has them at work. */
import type { Kysely } from 'kysely';
import type { CompilationInputs, Schema } from '../../db/schema.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { CompilationQuery } from './schemas.ts';

type Db = Kysely<Schema>;

/** Selects compilations with the hash of their artifact. */
function selected(db: Db) {
  return db
    .selectFrom('compilations')
    .leftJoin('artifacts', 'artifacts.id', 'compilations.artifact_id')
    .selectAll('compilations')
    .select('artifacts.artifact_hash');
}

export type CompilationRow = NonNullable<Awaited<ReturnType<typeof findCompilation>>>;

/** Compilations of a project that have not begun. */
export async function countWaiting(db: Db, projectId: string): Promise<number> {
  const { waiting } = await db
    .selectFrom('compilations')
    .select(({ fn }) => fn.countAll<string>().as('waiting'))
    .where('project_id', '=', projectId)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  return Number(waiting);
}

export function findCompilation(db: Db, id: string) {
  return selected(db).where('compilations.id', '=', id).executeTakeFirst();
}

export function listCompilations(
  db: Db,
  of: { readonly spec: string } | { readonly project: string },
  { status, ...at }: CompilationQuery,
): Promise<Page<CompilationRow>> {
  let query =
    'spec' in of
      ? selected(db).where('compilations.spec_id', '=', of.spec)
      : selected(db).where('compilations.project_id', '=', of.project);
  if (status !== undefined) query = query.where('compilations.status', '=', status);
  return page(query, at, {
    columns: { created_at: { column: 'compilations.created_at', value: (row) => row.created_at.toISOString() } },
    standard: '-created_at',
    id: { column: 'compilations.id', value: (row) => row.id },
  });
}

export interface CompilationRecord {
  readonly id: string;
  readonly specId: string | null;
  readonly projectId: string | null;
  readonly inputs: CompilationInputs;
  readonly production: boolean;
  readonly createdBy: string;
}

export async function insertCompilation(db: Db, record: CompilationRecord): Promise<void> {
  await db
    .insertInto('compilations')
    .values({
      id: record.id,
      spec_id: record.specId,
      project_id: record.projectId,
      inputs: JSON.stringify(record.inputs),
      production: record.production,
      created_by: record.createdBy,
    })
    .execute();
}

/** Waits for concurrent changes. */
export function lockCompilation(db: Db, id: string) {
  return db
    .selectFrom('compilations')
    .select(['id', 'project_id', 'status'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export async function deleteCompilation(db: Db, id: string): Promise<void> {
  await db.deleteFrom('compilations').where('id', '=', id).execute();
}
