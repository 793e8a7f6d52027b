/** What a pod needs to serve HTTPS with a certificate of a Secret. */
import type { GatewayProject } from '../api/resources.ts';

export interface TlsParts {
  readonly args: readonly string[];
  readonly volumes: readonly object[];
  readonly volumeMounts: readonly object[];
}

const TLS_DIR = '/var/run/gw-tls';
const CLIENT_CA_DIR = '/var/run/gw-client-ca';

/** The Secrets are mounted whole, never by single file: only then does the kubelet bring renewed ones to the pod. */
export function tlsParts({ spec }: GatewayProject): TlsParts {
  if (!spec.tls) return { args: [], volumes: [], volumeMounts: [] };
  const { secret, minVersion, clientAuth, clientCaSecret } = spec.tls;
  const volume = (name: string, secretName: string) => ({ name, secret: { secretName, defaultMode: 0o440 } });
  const mount = (name: string, mountPath: string) => ({ name, mountPath, readOnly: true });
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
