import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../runtime/kube-object.ts';
import { gatewayName, ownedMeta, podLabels } from './names.ts';

/** The Service in front of a project's pods. */
export function service(project: GatewayProject): KubeObject {
  const { type, port, nodePort, annotations } = project.spec.service;
  const object = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: ownedMeta(project, gatewayName(project), annotations ? { annotations } : {}),
    spec: {
      type,
      selector: podLabels(project),
      ports: [{ name: 'http', port, targetPort: 'http', protocol: 'TCP', ...(nodePort ? { nodePort } : {}) }],
    },
  };
  return object;
}

/** Host and port of it within the cluster. */
export function serviceAddress(project: GatewayProject): string {
  return `${gatewayName(project)}.${project.metadata.namespace ?? 'default'}.svc:${project.spec.service.port}`;
}
