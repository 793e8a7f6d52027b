/** How many pods a project has, and who says so: its spec, or its autoscaler. */
import type { GatewayProject, Workload } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { ANNOTATION_AUTOSCALED } from './names.ts';

/** The pods that there shall be: the spec's number, or what the autoscaler has made of it. */
export function wantedReplicas({ spec }: GatewayProject, running: Workload | undefined): number {
  const { autoscaling, replicas } = spec.pods;
  return autoscaling ? (running?.spec?.replicas ?? autoscaling.minReplicas) : replicas;
}

export interface Scaling {
  /** Absent: it is not ours to say. */
  readonly replicas?: number;
  readonly annotations: { readonly [name: string]: string };
}

/**
 * What is said of a workload's number of pods. With an autoscaler nothing is, from the second time on: the first time
 * it begins with the least, and what exists keeps what it has (see `handedOver`), so that pods never drop to one.
 * Where nothing scales (`autoscales`), the least is what runs.
 */
export function scaling(project: GatewayProject, running: Workload | undefined, autoscales = true): Scaling {
  const { autoscaling, replicas } = project.spec.pods;
  if (!autoscaling) return { replicas, annotations: {} };
  if (!autoscales || !running) return { replicas: autoscaling.minReplicas, annotations: {} };
  return { annotations: { [ANNOTATION_AUTOSCALED]: 'true' } };
}

/**
 * The number of pods that a workload has, to be applied under another name before we cease to say it: a field that
 * nobody owns any more falls back to its default, which is one. Undefined where there is nothing to hand over.
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
