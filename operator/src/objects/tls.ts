/** Parts of a pod that serves HTTPS with a certificate of a Secret. */
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { IVolumeMount } from 'kubernetes-models/v1/VolumeMount';
import type { GatewayProject } from '../api/resources.ts';
import type { Part } from '../kube/manifest.ts';

export interface TlsParts {
  readonly args: readonly string[];
  readonly volumes: readonly Part<IVolume>[];
  readonly volumeMounts: readonly Part<IVolumeMount>[];
}

const TLS_DIR = '/var/run/gw-tls';
const CLIENT_CA_DIR = '/var/run/gw-client-ca';

/** Mounts the Secrets whole, never by single file: only then does the kubelet renew them in the pod. */
export function tlsParts({ spec }: GatewayProject): TlsParts {
  if (!spec.tls) return { args: [], volumes: [], volumeMounts: [] };
  const { secret, minVersion, clientAuth, clientCaSecret } = spec.tls;
  const volume = (name: string, secretName: string): Part<IVolume> => ({
    name,
    secret: { secretName, defaultMode: 0o440 },
  });
  const mount = (name: string, mountPath: string): Part<IVolumeMount> => ({ name, mountPath, readOnly: true });
  const ownCa = clientAuth !== 'off' && clientCaSecret !== undefined;
  return {
    args: [
      ...['--tls-cert', `${TLS_DIR}/tls.crt`, '--tls-key', `${TLS_DIR}/tls.key`],
      ...(minVersion ? ['--tls-min-version', minVersion] : []),
      ...(clientAuth === 'off' ? [] : ['--tls-client-auth', clientAuth]),
      ...(clientAuth === 'off' ? [] : ['--tls-client-ca', `${ownCa ? CLIENT_CA_DIR : TLS_DIR}/ca.crt`]),
    ],
    volumes: [volume('tls', secret), ...(ownCa ? [volume('client-ca', clientCaSecret)] : [])],
    volumeMounts: [mount('tls', TLS_DIR), ...(ownCa ? [mount('client-ca', CLIENT_CA_DIR)] : [])],
  };
}
