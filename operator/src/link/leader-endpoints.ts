/** The EndpointSlice of the link's Service: the leader writes its own address, so that pods reach it only. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { IEndpointSlice } from 'kubernetes-models/discovery.k8s.io/v1/EndpointSlice';
import { manifest } from '../kube/manifest.ts';
import type { ApiServer } from '../runtime/api-server.ts';
import { FIELD_MANAGER } from '../runtime/cluster-objects.ts';

export interface LeaderEndpoint {
  /** The operator's. */
  readonly namespace: string;
  /** Name of the Service. */
  readonly service: string;
  /** Address at which pods reach this replica. */
  readonly address: string;
  readonly port: number;
}

export async function writeLeaderEndpoint(
  api: ApiServer,
  { namespace, service, address, port }: LeaderEndpoint,
): Promise<void> {
  await api.json({
    method: 'PATCH',
    path: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${service}`,
    query: { fieldManager: FIELD_MANAGER, force: 'true' },
    contentType: 'application/apply-patch+yaml',
    body: manifest<IEndpointSlice>({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: service,
        namespace,
        labels: {
          'kubernetes.io/service-name': service,
          'endpointslice.kubernetes.io/managed-by': 'gw-operator',
        },
      },
      addressType: isIP(address) === 6 ? 'IPv6' : 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true, serving: true, terminating: false } }],
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    }),
  });
}

/** Returns the first address of this machine, which in a pod is the pod's; undefined without a network. */
export function ownAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, address }) => !internal && !address.startsWith('fe80:'))?.address;
}
