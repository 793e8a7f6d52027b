/** Rows of specs and of their revisions. */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Schema, SpecRevisionsTable, SpecsTable } from '../../db/schema.ts';
import { containing } from '../../db/text.ts';
import { type Page, type PageRequest, page } from '../../http/pagination.ts';
import type { SpecQuery } from './schemas.ts';

type Db = Kysely<Schema>;
type Row = Selectable<SpecsTable>;
export type RevisionRow = Omit<Selectable<SpecRevisionsTable>, 'operations'>;
/** A spec with the hashes of its latest revision. */
export type SpecRow = Row & { readonly sha256: string; readonly document_sha256: string };

const REVISION = [
  'id',
  'spec_id',
  'revision',
  'sha256',
  'document_sha256',
  'size',
  'filename',
  'form',
  'entry',
  'spec_version',
  'note',
  'created_by',
  'created_at',
] as const;

function specs(db: Db) {
  return db
    .selectFrom('specs')
    .innerJoin('spec_revisions as latest', (join) =>
      join.onRef('latest.spec_id', '=', 'specs.id').onRef('latest.revision', '=', 'specs.revision'),
    )
    .selectAll('specs')
    .select(['latest.sha256', 'latest.document_sha256']);
}

export function findSpec(db: Db, id: string): Promise<SpecRow | undefined> {
  return specs(db).where('specs.id', '=', id).executeTakeFirst();
}

/** Locks the spec: other transactions that change it wait until this one ends. */
export async function lockSpec(db: Db, id: string): Promise<SpecRow | undefined> {
  const locked = await db.selectFrom('specs').select('id').where('id', '=', id).forUpdate().executeTakeFirst();
  // In a separate statement, which sees writes made while it waited for the lock.
  return locked && findSpec(db, id);
}

/** As `lockSpec`. `projectId` null: outside projects. */
export async function lockSpecNamed(db: Db, projectId: string | null, name: string): Promise<SpecRow | undefined> {
  const locked = await db
    .selectFrom('specs')
    .select('id')
    .where('project_id', projectId === null ? 'is' : '=', projectId)
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  return locked && findSpec(db, locked.id);
}

/** Finds a spec without a lock. `projectId` null: outside projects. */
export function findSpecNamed(db: Db, projectId: string | null, name: string): Promise<SpecRow | undefined> {
  return specs(db)
    .where('specs.project_id', projectId === null ? 'is' : '=', projectId)
    .where('specs.name', '=', name)
    .executeTakeFirst();
}

/** Returns the project's spec, other than the named one, whose document has this base name in the compiled project. */
export function findSpecOfDocument(
  db: Db,
  projectId: string,
  base: string,
  except: string,
): Promise<SpecRow | undefined> {
  return specs(db)
    .where('specs.project_id', '=', projectId)
    .where('specs.name', '!=', except)
    .where(sql`regexp_replace(latest.entry, '^.*/', '')`, '=', base)
    .executeTakeFirst();
}

/** `projectId`: only that project's; undefined: all. */
export function listSpecs(
  db: Db,
  projectId: string | undefined,
  { name, type, ...at }: SpecQuery,
): Promise<Page<SpecRow>> {
  let query = db.selectFrom(specs(db).as('found')).selectAll();
  if (projectId !== undefined) query = query.where('project_id', '=', projectId);
  if (name !== undefined) query = query.where('name', 'ilike', containing(name));
  if (type !== undefined) query = query.where('type', '=', type);
  return page(query, at, {
    columns: {
      name: { column: 'name', value: (row) => row.name },
      updated_at: { column: 'updated_at', value: (row) => row.updated_at.toISOString() },
    },
    standard: 'name',
    id: { column: 'id', value: (row) => row.id },
  });
}

export type NewSpec = Pick<Row, 'id' | 'project_id' | 'name' | 'type' | 'title' | 'api_version'>;

/** Inserts a spec, before its first revision; returns false if the name exists already. */
export async function insertSpec(db: Db, spec: NewSpec): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('specs')
    .values({ ...spec, revision: 1, updated_at: sql<Date>`now()` })
    .onConflict((conflict) => conflict.constraint('specs_name_unique').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function updateSpec(
  db: Db,
  id: string,
  change: Pick<Row, 'type' | 'title' | 'api_version' | 'revision'>,
): Promise<void> {
  await db
    .updateTable('specs')
    .set((expression) => ({ ...change, version: expression('version', '+', 1), updated_at: sql<Date>`now()` }))
    .where('id', '=', id)
    .execute();
}

export async function deleteSpec(db: Db, id: string): Promise<void> {
  await db.deleteFrom('specs').where('id', '=', id).execute();
}

/** `operations`: JSON. */
export async function insertRevision(
  db: Db,
  revision: Omit<RevisionRow, 'created_at'> & { readonly operations: string },
): Promise<void> {
  await db.insertInto('spec_revisions').values(revision).execute();
}

export function findRevision(db: Db, specId: string, revision: number): Promise<RevisionRow | undefined> {
  return db
    .selectFrom('spec_revisions')
    .select(REVISION)
    .where('spec_id', '=', specId)
    .where('revision', '=', revision)
    .executeTakeFirst();
}

export function listRevisions(db: Db, specId: string, at: PageRequest): Promise<Page<RevisionRow>> {
  return page(db.selectFrom('spec_revisions').select(REVISION).where('spec_id', '=', specId), at, {
    columns: { revision: { column: 'revision', value: (row) => String(row.revision) } },
    standard: '-revision',
    id: { column: 'id', value: (row) => row.id },
  });
}

/** Compilations that are still to read it, by themselves or for their project. */
export async function compilationsUnderWay(db: Db, specId: string): Promise<number> {
  const { count } = await db
    .selectFrom('compilations')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('status', 'in', ['pending', 'compiling'])
    .where((expression) =>
      expression.or([
        expression('spec_id', '=', specId),
        sql<boolean>`inputs -> 'revisions' @> ${JSON.stringify([{ spec_id: specId }])}::jsonb`,
      ]),
    )
    .executeTakeFirstOrThrow();
  return count;
}
