/** Progress of a workload whose pods are replaced because the operator changed: an upgrade, or another option. */
import type { Workload } from '../api/resources.ts';
import { ANNOTATION_TEMPLATE, ANNOTATION_UPDATE } from './names.ts';

export interface Update {
  /** `failed`: its pods made no progress for `progressDeadlineSeconds`; those before serve on. */
  readonly state: 'updating' | 'failed' | 'done';
  /** Pods that have been replaced and are ready, and desired pods. */
  readonly updated: number;
  readonly wanted: number;
}

/** Returns undefined if the operator is not the reason for which its pods are replaced. */
export function updateOf(workload: Workload | undefined): Update | undefined {
  const { metadata, spec, status } = workload ?? {};
  const template = metadata?.annotations?.[ANNOTATION_UPDATE];
  if (template === undefined || template !== metadata?.annotations?.[ANNOTATION_TEMPLATE]) return undefined;
  const wanted = spec?.replicas ?? 1;
  // The status still describes the previous template.
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return { state: 'updating', updated: 0, wanted };
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status ?? {};
  // The ready pods may be the old ones.
  const updated = Math.max(0, updatedReplicas - Math.max(0, replicas - readyReplicas));
  if (updatedReplicas >= wanted && replicas === updatedReplicas && readyReplicas >= wanted)
    return { state: 'done', updated, wanted };
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
  const failed = progressing?.reason === 'ProgressDeadlineExceeded';
  return { state: failed ? 'failed' : 'updating', updated, wanted };
}
