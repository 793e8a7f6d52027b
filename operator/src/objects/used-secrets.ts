/** The Secrets of its namespace that a GatewayProject names, but for those in its template patch. */
import type { GatewayProject } from '../api/resources.ts';

export interface UsedSecret {
  readonly name: string;
  /** Path of the field that names the Secret. */
  readonly field: string;
}

export function usedSecrets({ spec }: GatewayProject): readonly UsedSecret[] {
  const { secrets, tls, serve, controlPlane, signing, storage, pods, exposure } = spec;
  const one = (field: string, name: string | undefined) => (name === undefined ? [] : [{ field, name }]);
  const many = (field: string, names: readonly string[] = []) => names.map((name) => ({ field, name }));
  return [
    ...one('spec.signing.keySecret', signing?.keySecret?.name),
    ...many(
      'spec.signing.trustedKeySecrets',
      signing?.trustedKeySecrets?.map(({ name }) => name),
    ),
    ...one('spec.storage.oci.pushSecret', storage.oci?.pushSecret),
    ...one('spec.storage.oci.pullSecret', storage.oci?.pullSecret),
    ...many('spec.pods.imagePullSecrets', pods.imagePullSecrets),
    ...many('spec.secrets.env', secrets?.env),
    ...one('spec.secrets.directory', secrets?.directory),
    ...many('spec.secrets.template', secrets?.template),
    ...one('spec.exposure.ingress.tlsSecret', exposure.ingress?.tlsSecret),
    ...one('spec.tls.secret', tls?.secret),
    ...one('spec.tls.clientCaSecret', tls?.clientCaSecret),
    ...one('spec.serve.state.url.secret', serve.state?.url.secret),
    ...one('spec.controlPlane.secret', controlPlane?.secret),
  ];
}
