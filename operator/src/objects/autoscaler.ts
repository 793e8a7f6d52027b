import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import type { IHorizontalPodAutoscalerBehavior } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscalerBehavior';
import type { IMetricSpec } from 'kubernetes-models/autoscaling/v2/MetricSpec';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { given, manifest, type Part } from '../kube/manifest.ts';
import { gatewayName, ownedMeta } from './names.ts';

/** Percentage of the requested CPU if a project sets neither that nor its own metrics. */
const TARGET_CPU = 70;

/** Returns the HorizontalPodAutoscaler that owns the number of pods; undefined if the project has a fixed number. */
export function autoscaler(project: GatewayProject): KubeObject | undefined {
  const { autoscaling } = project.spec.pods;
  if (!autoscaling) return undefined;
  const { minReplicas, maxReplicas, targetCpuPercent, metrics = [], behavior } = autoscaling;
  const averageUtilization = targetCpuPercent ?? (metrics.length === 0 ? TARGET_CPU : undefined);
  const cpu: Part<IMetricSpec> = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  };
  return manifest<IHorizontalPodAutoscaler>({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: ownedMeta(project, gatewayName(project)),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: gatewayName(project) },
      minReplicas,
      maxReplicas,
      metrics: [...(averageUtilization === undefined ? [] : [cpu]), ...metrics.map((each) => given<IMetricSpec>(each))],
      behavior: given<IHorizontalPodAutoscalerBehavior>(behavior),
    },
  });
}
