import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import { gatewayName, ownedMeta, podLabels } from './names.ts';

/**
 * Reports whether a project has one: only with several pods, since a budget for a single pod would block every drain.
 */
export function hasDisruptionBudget({ spec }: GatewayProject): boolean {
  const { disruptionBudget, autoscaling, replicas } = spec.pods;
  return disruptionBudget.enabled && (autoscaling?.maxReplicas ?? replicas) > 1;
}

/** Lets a node's drain take a few gateway pods at a time. */
export function podDisruptionBudget(project: GatewayProject): KubeObject {
  return manifest<IPodDisruptionBudget>({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: ownedMeta(project, gatewayName(project)),
    spec: {
      maxUnavailable: project.spec.pods.disruptionBudget.maxUnavailable ?? 1,
      selector: { matchLabels: podLabels(project) },
      // A pod that cannot become ready must not block the drain of a node.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  });
}
