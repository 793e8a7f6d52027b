/** Operations of the latest revisions, out of the lists that revisions keep. */
import { type Kysely, sql } from 'kysely';
import type { Schema, StoredOperation } from '../../db/schema.ts';
import { type Page, type PageRequest, page } from '../../http/pagination.ts';

export interface OperationRow {
  readonly spec_id: string;
  /** Unique among all specs. */
  readonly place: string;
  /** Sort key: path and method. */
  readonly key: string;
  readonly operation: StoredOperation;
}

/** Maximum characters of a path in the sort key, which a cursor can hold. */
const MAX_KEY = 300;

/** Lists operations of one spec, or of all specs of a project. */
export function listOperations(
  db: Kysely<Schema>,
  of: { readonly specId: string } | { readonly projectId: string },
  at: PageRequest,
): Promise<Page<OperationRow>> {
  const wanted = 'specId' in of ? sql`specs.id = ${of.specId}` : sql`specs.project_id = ${of.projectId}`;
  const found = sql<OperationRow>`(
    select specs.id as spec_id, each.value as operation,
      (left(each.value ->> 'path', ${MAX_KEY}) || ' ' || (each.value ->> 'method')) collate "C" as key,
      (specs.id || '/' || lpad(each.n::text, 8, '0')) collate "C" as place
    from specs
    join spec_revisions latest on latest.spec_id = specs.id and latest.revision = specs.revision
    cross join lateral json_array_elements(latest.operations) with ordinality as each (value, n)
    where ${wanted})`;
  return page(db.selectFrom(found.as('operations')).selectAll(), at, {
    columns: { path: { column: 'key', value: (row) => row.key } },
    standard: 'path',
    id: { column: 'place', value: (row) => row.place },
  });
}
