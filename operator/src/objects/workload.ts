import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../runtime/kube-object.ts';
import type { PodSettings } from './gateway-container.ts';
import { gatewayName, ownedMeta, podLabels } from './names.ts';
import { podTemplate, revisionAnnotations } from './pod-template.ts';

/** The apps/v1 Deployment whose pods serve one revision. */
export function workload(project: GatewayProject, revision: Revision, settings: PodSettings): KubeObject {
  const { pods, rollout } = project.spec;
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: ownedMeta(project, gatewayName(project), { annotations: revisionAnnotations(revision) }),
    spec: {
      replicas: pods.replicas,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: rollout.progressDeadlineSeconds,
      // A pod goes only when its successor is ready.
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: {
          maxUnavailable: rollout.rolling?.maxUnavailable ?? 0,
          maxSurge: rollout.rolling?.maxSurge ?? '25%',
        },
      },
      selector: { matchLabels: podLabels(project) },
      template: podTemplate(project, revision, settings),
    },
  };
  return object;
}
