import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import type { PodSettings } from './gateway-container.ts';
import { CANARY, canaryName, LABEL_ROLE, ownedMeta, podLabels } from './names.ts';
import { podTemplate, revisionAnnotations } from './pod-template.ts';
import { UNHINDERED } from './workload.ts';

export interface Canary {
  readonly revision: Revision;
  readonly pods: number;
}

/** Returns the apps/v1 Deployment whose pods try a revision, behind the Service of the others. */
export function canaryWorkload(project: GatewayProject, { revision, pods }: Canary, settings: PodSettings): KubeObject {
  const role = { [LABEL_ROLE]: CANARY };
  return manifest<IDeployment>({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: ownedMeta(project, canaryName(project), { labels: role, annotations: revisionAnnotations(revision) }),
    spec: {
      replicas: pods,
      revisionHistoryLimit: 0,
      ...UNHINDERED,
      progressDeadlineSeconds: project.spec.rollout.progressDeadlineSeconds,
      // They are few: the pods that replace another revision's need not wait for it.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { ...podLabels(project), ...role } },
      template: podTemplate(project, revision, { ...settings, role: CANARY }),
    },
  });
}
