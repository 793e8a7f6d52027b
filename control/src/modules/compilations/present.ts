/** A compilation in the form of the REST API. */
import type { Compilation, Diagnostic } from './schemas.ts';
import type { CompilationRow } from './store.ts';

export function present(row: CompilationRow): Compilation {
  const errors = row.diagnostics.filter(({ severity }) => severity === 'error');
  return {
    id: row.id,
    spec_id: row.spec_id,
    project_id: row.project_id,
    status: row.status,
    stage: row.stage,
    production: row.production,
    attempts: row.attempts,
    specs: row.inputs.revisions.map(({ spec_id, revision }) => ({ spec_id, revision })),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ...(row.completed_at === null ? {} : { completed_at: row.completed_at.toISOString() }),
    ...(row.artifact_id === null ? {} : { artifact_id: row.artifact_id }),
    ...(row.artifact_hash === null ? {} : { artifact_hash: row.artifact_hash }),
    ...(row.status === 'failed' ? { errors } : {}),
    warnings: row.diagnostics.filter(({ severity }: Diagnostic) => severity === 'warning'),
  };
}
