import { issueAuthority, issueServing } from '../../operator/src/certificates/issue.ts';

/** The manifest of a Secret of type kubernetes.io/tls, as cert-manager makes them, with a new certificate. */
export function selfSigned(name: string, hosts: readonly string[]): string {
  const lifetime = { from: new Date(Date.now() - 60_000), until: new Date(Date.now() + 90 * 86_400_000) };
  const authority = issueAuthority('gw test', lifetime);
  const { certificate, key } = issueServing(authority, hosts, lifetime);
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    type: 'kubernetes.io/tls',
    stringData: {
      'tls.crt': certificate.toString() + authority.certificate.toString(),
      'tls.key': String(key.export({ format: 'pem', type: 'pkcs8' })),
      'ca.crt': authority.certificate.toString(),
    },
  });
}
