import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IDeploymentSpec } from 'kubernetes-models/apps/v1/DeploymentSpec';
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject, Workload } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest, type Part } from '../kube/manifest.ts';
import type { PodSettings } from './gateway-container.ts';
import {
  ANNOTATION_ASKED,
  ANNOTATION_REVISION,
  ANNOTATION_TEMPLATE,
  ANNOTATION_UPDATE,
  gatewayName,
  ownedMeta,
  podLabels,
} from './names.ts';
import { podTemplate, revisionAnnotations } from './pod-template.ts';
import { scaling } from './replicas.ts';
import { askedDigest, templateDigest } from './template-digest.ts';
import { updateOf } from './update.ts';

export interface WorkloadSettings extends PodSettings {
  /** The running workload. */
  readonly running?: Workload;
  /** Whether something acts on HorizontalPodAutoscalers. Default: true; else the least number of pods runs. */
  readonly autoscales?: boolean;
  /** Its pods are replaced only because the operator changed. */
  readonly update?: boolean;
}

/** Always set on workloads, to revert manual changes that would stop or slow down rollouts. */
export const UNHINDERED: Partial<Part<IDeploymentSpec>> = { paused: false, minReadySeconds: 0 };

/** Returns the apps/v1 Deployment whose pods serve one revision. */
export function workload(project: GatewayProject, revision: Revision, settings: WorkloadSettings): KubeObject {
  const { rollout } = project.spec;
  const { annotations, replicas } = scaling(project, settings.running, settings.autoscales);
  const template = templateDigest(project, settings);
  return manifest<IDeployment>({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: ownedMeta(project, gatewayName(project), {
      annotations: {
        ...revisionAnnotations(revision),
        [ANNOTATION_TEMPLATE]: template,
        [ANNOTATION_ASKED]: askedDigest(project, settings),
        ...(settings.update || isUpdating(settings.running, template, revision)
          ? { [ANNOTATION_UPDATE]: template }
          : {}),
        ...annotations,
      },
    }),
    spec: {
      replicas,
      revisionHistoryLimit: 2,
      ...UNHINDERED,
      progressDeadlineSeconds: rollout.progressDeadlineSeconds,
      // A pod is removed only when its successor is ready.
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: {
          maxUnavailable: rollout.rolling?.maxUnavailable ?? 0,
          maxSurge: rollout.rolling?.maxSurge ?? defaultSurge(project),
        },
      },
      selector: { matchLabels: podLabels(project) },
      template: podTemplate(project, revision, settings),
    },
  });
}

/** Reports whether the update continues: until all its pods are replaced, or another rollout begins. */
function isUpdating(running: Workload | undefined, template: string, { revision }: Revision): boolean {
  const { annotations } = running?.metadata ?? {};
  if (annotations?.[ANNOTATION_UPDATE] !== template || annotations[ANNOTATION_REVISION] !== String(revision))
    return false;
  return updateOf(running)?.state !== 'done';
}

/** Returns a quarter, but at least two at once: few pods are then replaced in one go, which takes half the time. */
function defaultSurge({ spec }: GatewayProject): number {
  const { autoscaling, replicas } = spec.pods;
  return Math.max(2, Math.ceil((autoscaling?.minReplicas ?? replicas) / 4));
}
