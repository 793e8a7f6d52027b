/** Status of the registry or URL that an object's document or plugin is fetched from. Pure. */
import type { ApiSpecStatus } from '../../api/api-spec.ts';
import type { Condition } from '../../api/shared.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import { conditionOf, rfc3339, type Verdict } from '../../runtime/conditions.ts';
import type { SourceState } from '../../sources/source.ts';

type Fetched = ApiSpecStatus['fetched'];

/** Returns no verdict for an object whose source is in the cluster. */
export function fetchedVerdict(state: SourceState | undefined): readonly Verdict[] {
  if (!state) return [];
  const type = 'Fetched';
  if (state.state === 'fetching')
    return [{ type, status: 'Unknown', reason: 'Fetching', message: 'it is being fetched' }];
  if (state.state === 'failed') return [{ type, status: 'False', ...state.problem }];
  const { problem, source } = state;
  if (problem) {
    const message = `${problem.message}; using what was fetched at ${rfc3339(source.fetchedAt)}`;
    return [{ type, status: 'False', reason: problem.reason, message }];
  }
  return [{ type, status: 'True', reason: 'Fetched', message: source.content.digest }];
}

/** Returns the last fetch; also one recorded by an older operator. */
export function fetchedStatus(
  state: SourceState | undefined,
  before: Fetched,
): { readonly fetched?: NonNullable<Fetched> } {
  if (!state) return {};
  if (state.state !== 'fetched') return before ? { fetched: before } : {};
  const { digest } = state.source.content;
  // The same content after a restart keeps its time.
  const fetchedAt = before?.digest === digest ? before.fetchedAt : undefined;
  return { fetched: { digest, fetchedAt: fetchedAt ?? rfc3339(state.source.fetchedAt) } };
}

/** Reports whether its current spec was accepted, so that a repeated fetch of the same keeps the conditions. */
export function holdsWhileFetching(
  object: KubeObject & {
    readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
  },
  state: SourceState | undefined,
): boolean {
  return (
    state?.state === 'fetching' &&
    object.status?.observedGeneration === object.metadata.generation &&
    conditionOf(object, 'Accepted')?.status === 'True'
  );
}
