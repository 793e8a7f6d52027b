import type { IPodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import { gatewayName, LABEL_PROJECT, ownedMeta, podLabels } from './names.ts';

/** Returns the project's PodMonitor; its series have the project's name as their `job`. */
export function podMonitor(project: GatewayProject): KubeObject | undefined {
  const wanted = project.spec.monitoring.podMonitor;
  if (!wanted) return undefined;
  return manifest<IPodMonitor>({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: ownedMeta(project, gatewayName(project), wanted.labels ? { labels: wanted.labels } : {}),
    spec: {
      jobLabel: LABEL_PROJECT,
      selector: { matchLabels: podLabels(project) },
      podMetricsEndpoints: [{ port: 'admin', path: '/metrics', interval: wanted.interval }],
    },
  });
}
