/** Number of a project's pods, from its spec or its autoscaler. */
import type { GatewayProject, Workload } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { ANNOTATION_AUTOSCALED } from './names.ts';

/** Returns the desired number of pods: the spec's, or the autoscaler's. */
export function wantedReplicas({ spec }: GatewayProject, running: Workload | undefined): number {
  const { autoscaling, replicas } = spec.pods;
  return autoscaling ? (running?.spec?.replicas ?? autoscaling.minReplicas) : replicas;
}

export interface Scaling {
  /** Absent: another manager sets it. */
  readonly replicas?: number;
  readonly annotations: { readonly [name: string]: string };
}

/**
 * Returns the replicas that are applied to a workload. With an autoscaler they are applied only the first time, with
 * the minimum; an existing workload keeps its number (see `handedOver`), so that pods never drop to one. If nothing
 * scales (`autoscales`), the minimum runs.
 */
export function scaling(project: GatewayProject, running: Workload | undefined, autoscales = true): Scaling {
  const { autoscaling, replicas } = project.spec.pods;
  if (!autoscaling) return { replicas, annotations: {} };
  if (!autoscales || !running) return { replicas: autoscaling.minReplicas, annotations: {} };
  return { annotations: { [ANNOTATION_AUTOSCALED]: 'true' } };
}

/**
 * Returns the current number of pods, to be applied under another manager's name before the operator ceases to set it:
 * a field without an owner falls back to its default, which is one. Undefined if there is nothing to hand over.
 */
export function handedOver(project: GatewayProject, running: Workload | undefined): KubeObject | undefined {
  const replicas = running?.spec?.replicas;
  if (!project.spec.pods.autoscaling || !running || replicas === undefined) return undefined;
  if (running.metadata.annotations?.[ANNOTATION_AUTOSCALED] === 'true') return undefined;
  const { apiVersion, kind, metadata } = running;
  const { name, namespace, uid } = metadata;
  const object = {
    apiVersion,
    kind,
    metadata: { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) },
    spec: { replicas },
  };
  return object;
}
