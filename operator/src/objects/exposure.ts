import type { IHTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import type { IIngressRule } from 'kubernetes-models/networking.k8s.io/v1/IngressRule';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest, type Part } from '../kube/manifest.ts';
import { gatewayName, ownedMeta } from './names.ts';
import { servicePort } from './service.ts';

/** Returns the project's Ingress: all paths of its hosts go to its Service. */
export function ingress(project: GatewayProject): KubeObject | undefined {
  const wanted = project.spec.exposure.ingress;
  if (!wanted) return undefined;
  const { className, hosts, tlsSecret, annotations } = wanted;
  const rule = (host: string): Part<IIngressRule> => ({
    host,
    http: {
      paths: [
        {
          path: '/',
          pathType: 'Prefix',
          backend: { service: { name: gatewayName(project), port: { number: servicePort(project) } } },
        },
      ],
    },
  });
  return manifest<IIngress>({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: ownedMeta(project, gatewayName(project), annotations ? { annotations } : {}),
    spec: {
      ingressClassName: className,
      tls: tlsSecret ? [{ hosts, secretName: tlsSecret }] : undefined,
      rules: hosts.map(rule),
    },
  });
}

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
