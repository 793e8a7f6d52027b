import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../runtime/kube-object.ts';
import { gatewayName, ownedMeta } from './names.ts';
import { servicePort } from './service.ts';

/** The Ingress that a project asks for: all paths of its hosts go to its Service. */
export function ingress(project: GatewayProject): KubeObject | undefined {
  const wanted = project.spec.exposure.ingress;
  if (!wanted) return undefined;
  const { className, hosts, tlsSecret, annotations } = wanted;
  const backend = { service: { name: gatewayName(project), port: { number: servicePort(project) } } };
  const object = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: ownedMeta(project, gatewayName(project), annotations ? { annotations } : {}),
    spec: {
      ...(className ? { ingressClassName: className } : {}),
      ...(tlsSecret ? { tls: [{ hosts, secretName: tlsSecret }] } : {}),
      rules: hosts.map((host) => ({ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } })),
    },
  };
  return object;
}
