/** Specs and revisions as answers and the audit log show them. */
import { valueAt } from '@gw/gateway/spec';
import type { BindingRow } from './bindings-store.ts';
import type { BindingOutcome } from './bound-document.ts';
import type { OperationRow } from './operations-store.ts';
import type { Spec, SpecBinding, SpecOperation, SpecRevision, SpecUpload } from './schemas.ts';
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
    document_sha256: row.document_sha256,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Returns the spec for the audit log, without the content of documents. */
export function recorded({ name, revision, sha256 }: Pick<SpecRow, 'name' | 'revision' | 'sha256'>) {
  return { name, revision, sha256 };
}

export function presentRevision(row: RevisionRow): SpecRevision {
  return {
    revision: row.revision,
    sha256: row.sha256,
    document_sha256: row.document_sha256,
    size: row.size,
    filename: row.filename,
    entry: row.entry,
    spec_version: row.spec_version,
    ...(row.note === null ? {} : { note: row.note }),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
  };
}

export function presentOperation({ spec_id, operation }: OperationRow): SpecOperation {
  const { tags, middlewares, bound = [], ...rest } = operation;
  return { spec_id, ...rest, tags: [...tags], middlewares: [...middlewares], bound: [...bound] };
}

export function presentOutcome({
  binding,
  was,
  state,
  reason,
}: Omit<BindingOutcome, 'state'> & Pick<SpecUpload['bindings'][number], 'state'>): SpecUpload['bindings'][number] {
  const { operation_id, method, path } = binding;
  return { operation_id, method, path, state, was, reason: reason || null };
}

export function presentBinding({ binding, state, reason, created_by, created_at }: BindingRow): SpecBinding {
  const { id, operation_id, method, path, chain } = binding;
  return {
    ...{ id, operation_id, method, path, state, reason },
    ...('dispatch' in chain ? { dispatch: useOf(chain.dispatch) } : {}),
    ...('middlewares' in chain ? { middlewares: usesOf(chain.middlewares) } : {}),
    created_by,
    created_at: created_at.toISOString(),
  };
}

type Use = NonNullable<SpecBinding['dispatch']>;

/** Reads a plugin's use. A chain merges values of a document and of a patch, so a config in it may be any JSON. */
function useOf(value: unknown): Use | null {
  const [name, config] = [valueAt(value, '/name'), valueAt(value, '/config')];
  return typeof name === 'string' ? { name, config: isObject(config) ? config : {} } : null;
}

function usesOf(value: unknown): Use[] | null {
  return Array.isArray(value) ? value.flatMap((each: unknown) => useOf(each) ?? []) : null;
}

const isObject = (value: unknown): value is Use['config'] => typeof value === 'object' && value !== null;
