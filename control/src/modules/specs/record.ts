/** Specs and revisions as answers and the audit log show them. */
import type { OperationRow } from './operations-store.ts';
import type { Spec, SpecOperation, SpecRevision } from './schemas.ts';
import type { RevisionRow, SpecRow } from './store.ts';

export const named = (id: string): string => `spec "${id}"`;

export const resourceOf = ({ id, project_id }: Pick<SpecRow, 'id' | 'project_id'>) => ({
  type: 'spec',
  id,
  projectId: project_id,
});

export function present(row: SpecRow): Spec {
  return {
    id: row.id,
    project_id: row.project_id,
    name: row.name,
    type: row.type,
    title: row.title,
    version: row.api_version,
    revision: row.revision,
    sha256: row.sha256,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** For the audit log: without what is in the documents. */
export function recorded({ name, revision, sha256 }: Pick<SpecRow, 'name' | 'revision' | 'sha256'>) {
  return { name, revision, sha256 };
}

export function presentRevision(row: RevisionRow): SpecRevision {
  return {
    revision: row.revision,
    sha256: row.sha256,
    size: row.size,
    filename: row.filename,
    entry: row.entry,
    spec_version: row.spec_version,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
  };
}

export function presentOperation({ spec_id, operation }: OperationRow): SpecOperation {
  return { spec_id, ...operation, tags: [...operation.tags], middlewares: [...operation.middlewares] };
}
