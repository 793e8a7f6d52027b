import type { IHTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import { gatewayName, ownedMeta } from './names.ts';
import { servicePort } from './service.ts';

/** Returns the project's HTTPRoute of the Gateway API: all requests to its hosts go to its Service. */
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
