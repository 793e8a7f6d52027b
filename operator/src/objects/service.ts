import type { IService } from 'kubernetes-models/v1/Service';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import { gatewayName, ownedMeta, podLabels } from './names.ts';

/** Returns the Service in front of a project's pods. */
export function service(project: GatewayProject): KubeObject {
  const { annotations, type, ...more } = project.spec.service;
  const outside = type !== 'ClusterIP';
  const balanced = type === 'LoadBalancer';
  const protocol = project.spec.tls ? 'https' : 'http';
  return manifest<IService>({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: ownedMeta(project, gatewayName(project), annotations ? { annotations } : {}),
    spec: {
      type,
      selector: podLabels(project),
      ports: [
        {
          name: protocol,
          port: servicePort(project),
          targetPort: 'http',
          protocol: 'TCP',
          appProtocol: protocol,
          nodePort: outside ? more.nodePort : undefined,
        },
      ],
      externalTrafficPolicy: outside ? more.externalTrafficPolicy : undefined,
      loadBalancerClass: balanced ? more.loadBalancerClass : undefined,
      loadBalancerSourceRanges: balanced ? more.loadBalancerSourceRanges : undefined,
    },
  });
}

/** Returns its port: the configured one, else 443 if pods serve HTTPS. */
export function servicePort({ spec }: GatewayProject): number {
  return spec.service.port ?? (spec.tls ? 443 : 80);
}

/** Returns its host and port within the cluster. */
export function serviceAddress(project: GatewayProject): string {
  return `${gatewayName(project)}.${project.metadata.namespace ?? 'default'}.svc:${servicePort(project)}`;
}
