/** `host_client_certificate_get` and `…_name`: the client's identity by its TLS handshake. */

import { type Call, type ClientCertificate, capability } from '../../kit.ts';

const FIELDS: readonly ((certificate: ClientCertificate) => string | undefined)[] = [
  ({ subject }) => subject,
  ({ commonName }) => commonName,
  ({ issuer }) => issuer,
  ({ serial }) => serial,
  ({ fingerprint }) => fingerprint,
  ({ notBefore }) => new Date(notBefore).toISOString(),
  ({ notAfter }) => new Date(notAfter).toISOString(),
];
const NAMES: readonly ((certificate: ClientCertificate) => readonly string[])[] = [
  ({ uris }) => uris,
  ({ dnsNames }) => dnsNames,
  ({ emails }) => emails,
];

export const clientCertificate = capability({
  functions: {
    host_client_certificate_get: {
      signature: 'iii:i',
      parameters: '(field, buf, cap) -> len',
      meaning:
        "the client's certificate, if TLS verified one and it has not expired: 0 subject (RFC 4514), 1 common name, 2 issuer, 3 serial (hex), 4 SHA-256 (hex in lower case), 5 not before, 6 not after (ISO 8601)",
      declared: true,
      make: (call) => (field, buf, cap) => {
        const certificate = shown(call);
        return call.memory.writeText(certificate === null ? undefined : FIELDS[field]?.(certificate), buf, cap);
      },
    },
    host_client_certificate_name: {
      signature: 'iiii:i',
      parameters: '(kind, index, buf, cap) -> len',
      meaning: 'its alternative names: 0 URIs, 1 DNS names, 2 email addresses',
      declared: true,
      make: (call) => (kind, index, buf, cap) => {
        const certificate = shown(call);
        return call.memory.writeText(certificate === null ? undefined : NAMES[kind]?.(certificate)[index], buf, cap);
      },
    },
  },
});

/** Returns null once the certificate has expired, however long the connection lasts. */
function shown(call: Call): ClientCertificate | null {
  const { clientCertificate } = call.request();
  return clientCertificate !== null && clientCertificate.notAfter > Date.now() ? clientCertificate : null;
}
