import type { IHTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import { gatewayName, ownedMeta } from './names.ts';
import { servicePort } from './service.ts';

/** The HTTPRoute of the Gateway API that a project asks for: everything that its hosts get goes to its Service. */
export function httpRoute(project: GatewayProject): KubeObject | undefined {
  const wanted = project.spec.exposure.httpRoute;
  if (!wanted) return undefined;
  const { parentRefs, hostnames, annotations } = wanted;
  return manifest<IHTTPRoute>({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: ownedMeta(project, gatewayName(project), annotations ? { annotations } : {}),
    spec: {
      parentRefs,
      hostnames,
      rules: [{ backendRefs: [{ name: gatewayName(project), port: servicePort(project) }] }],
    },
  });
}
