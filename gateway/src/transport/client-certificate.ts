/** The certificate that a client has shown in its TLS handshake, if it was verified by `--tls-client-ca`. */
import { constants, type X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../client-certificate.ts';

/**
 * `off`: certificates are not requested. `optional`: connections without one are served too. `required`: they are not.
 */
export const CLIENT_AUTH = ['off', 'optional', 'required'] as const;
export type ClientAuth = (typeof CLIENT_AUTH)[number];

/** Returns TLS options of a server that requests certificates. */
export function clientAuthOptions(mode: ClientAuth) {
  if (mode === 'off') return {};
  return {
    requestCert: true,
    rejectUnauthorized: mode === 'required',
    // A session that is resumed would not be verified again, also by roots that have been replaced meanwhile.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

const known = new WeakMap<Socket, ClientCertificate | null>();

/** Returns null if the client has shown no verified certificate. Read once for each connection. */
export function clientCertificateOf(socket: Socket): ClientCertificate | null {
  let certificate = known.get(socket);
  if (certificate === undefined) {
    const x509 = socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
    certificate = x509 ? describe(x509) : null;
    known.set(socket, certificate);
  }
  return certificate;
}

function describe(x509: X509Certificate): ClientCertificate {
  const { subject } = x509.toLegacyObject();
  const names = alternativeNames(x509.subjectAltName ?? '');
  const named = (kind: string) => names.flatMap((each) => (each.kind === kind ? [each.value] : []));
  return {
    subject: distinguishedName(x509.subject),
    commonName: typeof subject.CN === 'string' ? subject.CN : undefined,
    issuer: distinguishedName(x509.issuer),
    serial: x509.serialNumber,
    fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
    notBefore: Date.parse(x509.validFrom),
    notAfter: Date.parse(x509.validTo),
    uris: named('URI'),
    dnsNames: named('DNS'),
    emails: named('email'),
  };
}

/** Node.js gives one part a line, the most general first. */
function distinguishedName(lines: string | undefined): string {
  return (lines ?? '').split('\n').reverse().join(',');
}

interface AlternativeName {
  readonly kind: string;
  readonly value: string;
}

/** Parses names; Node.js quotes those with a comma as JSON, and malformed ones are ignored with their neighbours. */
export function alternativeNames(text: string): readonly AlternativeName[] {
  const names: AlternativeName[] = [];
  const one = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y;
  while (one.lastIndex < text.length) {
    const [, kind, value] = one.exec(text) ?? [];
    if (kind === undefined || value === undefined) return [];
    names.push({ kind, value: value.startsWith('"') ? String(JSON.parse(value)) : value });
  }
  return names;
}
