/** The pods that serve a project, and requests to their admin ports, through the API server. */
import { type GatewayProject, type Pod, pods } from '../api/resources.ts';
import { reportsReady } from '../controllers/gateway-project/pods/pod-state.ts';
import { ADMIN_PORT, podLabels } from '../objects/names.ts';
import type { ApiRequest } from '../runtime/api-server.ts';
import type { Cluster } from './cluster.ts';

export function isReady(pod: Pod): boolean {
  return !pod.metadata.deletionTimestamp && reportsReady(pod);
}

/** Returns the gateway pods of a project, by name. */
export function podsOf({ objects }: Cluster, project: GatewayProject): Promise<readonly Pod[]> {
  return objects.list(pods, { namespace: project.metadata.namespace ?? '', labels: podLabels(project) });
}

/**
 * Requests a page of a pod's admin port through the API server's proxy: needs the right `pods/proxy`, as port-forwards
 * need theirs.
 */
export function adminRequest(pod: Pod, path: string): Pick<ApiRequest, 'path' | 'headers'> {
  // The proxy forwards the Host header of the API server, which the gateway does not accept as its own.
  return { path: adminPath(pod, path), headers: { 'sec-gw-admin': '1' } };
}

function adminPath({ metadata }: Pod, path: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(metadata.namespace ?? '')}/pods/${encodeURIComponent(metadata.name)}:${ADMIN_PORT}/proxy${path}`;
}
