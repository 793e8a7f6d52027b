/** Which operation on files or batches a request is: its path and its method say so (docs/decisions.md#ai-files). */
import { type AiRefusal, refusal } from '../conversation/refusal.ts';
import { routedPath } from '../surfaces/surface-of.ts';
import type { FilesSurface } from '../targets/bound-ids.ts';

export type FilesOperation = 'upload' | 'file' | 'delete' | 'content' | 'create' | 'batch' | 'cancel' | 'list';

export interface FilesRequest {
  readonly surface: FilesSurface;
  /** As the client sent it; null if the path has none. */
  readonly id: string | null;
  /** Null if the path has no such method. */
  readonly operation: FilesOperation | null;
  /** Methods that the path has. */
  readonly methods: readonly string[];
}

const PATH = /\/v1\/(files|batches)(?:\/([^/]+)(?:\/(content|cancel))?)?$/;

/** Operations by path, without the id, and by method. */
const OPERATIONS: ReadonlyMap<string, ReadonlyMap<string, FilesOperation>> = new Map([
  ['files', operations({ POST: 'upload', GET: 'list' })],
  ['files/', operations({ GET: 'file', DELETE: 'delete' })],
  ['files//content', operations({ GET: 'content' })],
  ['batches', operations({ POST: 'create', GET: 'list' })],
  ['batches/', operations({ GET: 'batch' })],
  ['batches//cancel', operations({ POST: 'cancel' })],
]);

function operations(byMethod: Readonly<Record<string, FilesOperation>>): ReadonlyMap<string, FilesOperation> {
  return new Map(Object.entries(byMethod));
}

/** Returns null if the request is for another surface. */
export function filesRequest({
  path,
  method,
}: {
  readonly path: string;
  readonly method: string;
}): FilesRequest | null {
  const [, surface, id, end] = PATH.exec(routedPath(path)) ?? [];
  if (surface !== 'files' && surface !== 'batches') return null;
  const byMethod = OPERATIONS.get(`${surface}${id === undefined ? '' : '/'}${end === undefined ? '' : `/${end}`}`);
  if (byMethod === undefined) return null;
  return { surface, id: id ?? null, operation: byMethod.get(method) ?? null, methods: [...byMethod.keys()] };
}

/** The gateway, or a policy in front of it, does not let files and batches through. */
export function filesUnsupported(surface: FilesSurface): AiRefusal {
  const detail = `The gateway does not pass ${surface} on to a provider.`;
  return refusal('validation-failed', `${surface}_not_supported`, detail);
}
