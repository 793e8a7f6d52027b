import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../runtime/kube-object.ts';
import { gatewayName, ownedMeta, podLabels } from './names.ts';

/** The Service in front of a project's pods. */
export function service(project: GatewayProject): KubeObject {
  const { type, nodePort, annotations } = project.spec.service;
  const object = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: ownedMeta(project, gatewayName(project), annotations ? { annotations } : {}),
    spec: {
      type,
      selector: podLabels(project),
      ports: [
        {
          name: 'http',
          port: servicePort(project),
          targetPort: 'http',
          protocol: 'TCP',
          ...(nodePort ? { nodePort } : {}),
        },
      ],
    },
  };
  return object;
}

/** Port of it: 443 where pods serve HTTPS and nothing else is said. */
export function servicePort({ spec }: GatewayProject): number {
  return spec.service.port ?? (spec.tls ? 443 : 80);
}

/** Host and port of it within the cluster. */
export function serviceAddress(project: GatewayProject): string {
  return `${gatewayName(project)}.${project.metadata.namespace ?? 'default'}.svc:${servicePort(project)}`;
}
