import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { INetworkPolicyPeer } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPeer';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest, type Part } from '../kube/manifest.ts';
import { ADMIN_PORT, gatewayName, ownedMeta, podLabels, TRAFFIC_PORT } from './names.ts';

/**
 * Admits everyone to the traffic port, and to the admin port the operator and the scrapers only
 * (docs/decisions.md#programmed-by-provenance).
 */
export function networkPolicy(project: GatewayProject, operatorNamespace: string): KubeObject {
  const { scrapers = [] } = project.spec.networkPolicy;
  const operator: Part<INetworkPolicyPeer> = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operatorNamespace } },
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'gw-operator' } },
  };
  // A peer without any selector would admit nobody, and the API server refuses it.
  const peers = scrapers.filter((peer) => peer.namespaceSelector || peer.podSelector);
  return manifest<INetworkPolicy>({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: ownedMeta(project, gatewayName(project)),
    spec: {
      podSelector: { matchLabels: podLabels(project) },
      policyTypes: ['Ingress'],
      ingress: [
        { ports: [{ protocol: 'TCP', port: TRAFFIC_PORT }] },
        { from: [operator, ...peers], ports: [{ protocol: 'TCP', port: ADMIN_PORT }] },
      ],
    },
  });
}
