/**
 * Whether the running pods match the declared template: image, options, resources, Secrets. The artifacts that they
 * serve do not tell, since old pods serve until new ones are ready (docs/decisions.md#declared-pods). Pure.
 */
import type { Workload } from '../../../api/resources.ts';
import type { PodState } from './pod-state.ts';

/** Pods of the declared template are still to come. */
export interface PendingTemplate {
  /** Why the pods do not start, if known; undefined while they may still start. */
  readonly stuck?: string;
  readonly message: string;
}

/** Reasons for which a pod waits briefly. */
const PASSING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/** `declared`: the workload has the declared template. Returns undefined if all pods are of it. */
export function pendingTemplate(
  workload: Workload | undefined,
  pods: readonly PodState[],
  wanted: number,
  declared: boolean,
): PendingTemplate | undefined {
  const { metadata, status } = workload ?? {};
  if (!workload || wanted === 0) return undefined;
  if (!declared) return { message: 'the pods are to be replaced: what they are made from has changed' };
  if (status?.observedGeneration === undefined) return undefined;
  if (status.observedGeneration < (metadata?.generation ?? 0)) return { message: 'the pods are being replaced' };
  const { replicas = 0, updatedReplicas = 0 } = status;
  if (updatedReplicas >= wanted && replicas <= updatedReplicas) return undefined;
  const message = `${Math.min(updatedReplicas, wanted)} of ${wanted} pods are of the declared template`;
  const why = refusalOf(workload) ?? stuckPod(pods) ?? lateOf(workload);
  return why === undefined ? { message } : { message: `${message}: ${why}`, stuck: why };
}

/** Returns why the API server refuses to create pods: a quota, a limit, an admission policy. */
export function refusalOf(workload: Workload | undefined): string | undefined {
  const failure = workload?.status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  );
  return failure && `no pod can be created: ${failure.message ?? failure.reason ?? 'the API server refuses it'}`;
}

function stuckPod(pods: readonly PodState[]): string | undefined {
  for (const { name, canary, ready, terminating, fails, waiting } of pods) {
    if (canary || ready || terminating) continue;
    const why = fails ?? waiting;
    if (why !== undefined && !PASSING.has(why)) return `pod ${name}: ${why}`;
  }
  return undefined;
}

function lateOf({ status }: Workload): string | undefined {
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
  return progressing?.reason === 'ProgressDeadlineExceeded' ? 'they did not become ready in time' : undefined;
}
