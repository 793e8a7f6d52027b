/** Whether the Service routes to the pods that serve the artifact, and only to them, from its EndpointSlices. */
import { type EndpointSlice, endpointSlices, type GatewayProject } from '../../../api/resources.ts';
import { ApiError } from '../../../runtime/api-server.ts';
import { conditionOf, type Verdict } from '../../../runtime/conditions.ts';
import type { ListOptions, Objects } from '../../../runtime/objects.ts';
import type { PodState } from './pod-state.ts';

export interface Routed {
  /** Names of the pods that new connections to the Service reach; absent if unknown. */
  readonly routed?: ReadonlySet<string>;
}

/** Reads the routed pods; empty if the operator's role is too old to allow it to read EndpointSlices. */
export async function readRouted(objects: Pick<Objects, 'list'>, options: ListOptions): Promise<Routed> {
  try {
    return routedOf(await objects.list(endpointSlices, options));
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return {};
    throw error;
  }
}

/** Returns the routed pods; empty without EndpointSlices: local mode, and a Service that has just been created. */
export function routedOf(slices: readonly EndpointSlice[]): Routed {
  if (slices.length === 0) return {};
  const ready = slices
    .flatMap(({ endpoints }) => endpoints ?? [])
    // Kubernetes treats an endpoint without the condition as ready.
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ targetRef }) => (targetRef?.kind === 'Pod' && targetRef.name !== undefined ? [targetRef.name] : []));
  return { routed: new Set(ready) };
}

/**
 * Decides whether an artifact is programmed: every ready pod serves it, and new connections reach these pods and no pod
 * that is ending. Pods that come and go later, as with an autoscaler, do not revoke that.
 */
export function routedVerdict(
  verdict: Verdict,
  { project, pods, routed }: Routed & { readonly project: GatewayProject; readonly pods: readonly PodState[] },
  artifactHash: string | undefined,
): Verdict {
  if (verdict.reason !== 'Programmed' || !routed) return verdict;
  const stood = conditionOf(project, 'Programmed')?.status === 'True' && project.status?.artifactHash === artifactHash;
  if (stood) return verdict;
  const serving = new Set(pods.filter((pod) => pod.ready && !pod.terminating).map(({ name }) => name));
  // A pod that is not yet known as ready has just become so.
  const staying = new Set(pods.filter((pod) => !pod.terminating).map(({ name }) => name));
  const [gone] = [...routed].filter((name) => !staying.has(name));
  const [missing] = [...serving].filter((name) => !routed.has(name));
  if (gone === undefined && missing === undefined) return verdict;
  const message =
    gone === undefined
      ? `${verdict.message}; the Service does not route to pod ${missing} yet`
      : `${verdict.message}; the Service still routes to pod ${gone}, which is terminating`;
  return { ...verdict, status: 'False', reason: 'RollingOut', message };
}
