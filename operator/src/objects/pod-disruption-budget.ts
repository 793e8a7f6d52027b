import type { KubeObject } from '../runtime/kube-object.ts';
import { gatewayName, ownedMeta, podLabels } from './names.ts';

/** Lets a node's drain take one gateway pod at a time; only where there are several. */
export function podDisruptionBudget(project: KubeObject): KubeObject {
  const object = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: ownedMeta(project, gatewayName(project)),
    spec: { maxUnavailable: 1, selector: { matchLabels: podLabels(project) } },
  };
  return object;
}
