import type { IServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import { gatewayName, ownedMeta } from './names.ts';

/** Returns a separate identity for the gateway's pods, without a token and without rights. */
export function serviceAccount(project: KubeObject): KubeObject {
  return manifest<IServiceAccount>({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: ownedMeta(project, gatewayName(project)),
    automountServiceAccountToken: false,
  });
}
