/** Rows of the audit log, for reading; audit/audit.ts writes them. */
import type { Kysely, Selectable } from 'kysely';
import type { AuditEntriesTable, Schema } from '../../db/schema.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { AuditQuery } from './schemas.ts';

export type AuditRow = Selectable<AuditEntriesTable>;

/** Filters that are columns of their own. */
const EQUAL = ['project_id', 'actor', 'action', 'resource_type', 'resource_id'] as const;

/** `only`: the one project that the caller may see; null: all. */
export function listAuditEntries(
  db: Kysely<Schema>,
  only: string | null,
  { since, until, ...query }: Omit<AuditQuery, 'since' | 'until'> & { since?: Date; until?: Date },
): Promise<Page<AuditRow>> {
  let rows = db.selectFrom('audit_entries').selectAll();
  if (only !== null) rows = rows.where('project_id', '=', only);
  for (const name of EQUAL) {
    const value = query[name];
    if (value !== undefined) rows = rows.where(name, '=', value);
  }
  if (since) rows = rows.where('at', '>=', since);
  if (until) rows = rows.where('at', '<', until);
  return page(rows, query, {
    columns: { at: { column: 'at', value: (row) => row.at.toISOString() } },
    standard: '-at',
    id: { column: 'id', value: (row) => row.id },
  });
}
