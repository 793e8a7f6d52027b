/**
 * The operator's certificates and their renewal. Authorities overlap, so that clients with a bundle published long ago
 * can still check the served certificate. Pure, except for keys and serial numbers.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { issueAuthority, issueServing, type KeyedCertificate, type Lifetime } from './issue.ts';

/** The entries of the Secret, as text: PEM all of them. */
export interface CertificateFiles {
  /** Authorities to trust, oldest first: content of `caBundle` and of pods. */
  readonly ca: string;
  /** Their private keys. */
  readonly caKey: string;
  readonly cert: string;
  readonly key: string;
}

export interface RenewalPolicy {
  /** DNS names and IP addresses of the listener. */
  readonly names: readonly string[];
  /** How long an authority lasts; default 10 years. */
  readonly authorityMs?: number;
  /**
   * Milliseconds before its end at which another is published beside it; default 2 years: pods keep the authorities
   * that they were created with.
   */
  readonly overlapMs?: number;
  /** Lifetime of a serving certificate in milliseconds; default 90 days. It is renewed when a third is left. */
  readonly servingMs?: number;
}

const DAY_MS = 24 * 3600 * 1000;
/** Clocks of API servers and nodes may be behind ours. */
const SKEW_MS = 3600 * 1000;

/** Returns the same files if nothing is due, else new ones. Replaces files that cannot be read. */
export function renew(files: CertificateFiles | undefined, policy: RenewalPolicy, now: Date): CertificateFiles {
  const authorityMs = policy.authorityMs ?? 3650 * DAY_MS;
  const overlapMs = policy.overlapMs ?? 730 * DAY_MS;
  const servingMs = policy.servingMs ?? 90 * DAY_MS;
  const kept = files ? authoritiesOf(files).filter(({ certificate }) => lasts(certificate, now) > 0) : [];
  const authorities = [...kept];
  if (!kept.some(({ certificate }) => lasts(certificate, now) > overlapMs))
    authorities.push(issueAuthority(`gw-operator ${now.toISOString()}`, lifetime(now, authorityMs)));
  // The oldest authority that outlives the certificate: a newer one stays in the bundle for longer before its use.
  const issuer =
    authorities.find(({ certificate }) => lasts(certificate, now) >= servingMs) ?? authorities[authorities.length - 1]!;
  const current = files && servingOf(files);
  const due =
    !current ||
    lasts(current.certificate, now) <= servingMs / 3 ||
    !policy.names.every((name) => covers(current.certificate, name)) ||
    !authorities.some((authority) => signs(authority, current.certificate));
  if (!due && files && kept.length === authorities.length && kept.length === count(files.ca)) return files;
  const serving = due ? issueServing(issuer, policy.names, lifetime(now, servingMs)) : current;
  return {
    ca: authorities.map(({ certificate }) => certificate.toString()).join(''),
    caKey: authorities.map(({ key }) => pem(key)).join(''),
    cert: serving.certificate.toString(),
    key: pem(serving.key),
  };
}

/** Returns the certificates of a PEM text; leaves out blocks that cannot be read. */
export function certificatesOf(text: string): readonly X509Certificate[] {
  return blocks(text, 'CERTIFICATE').flatMap((block) => attempt(() => new X509Certificate(block)));
}

function authoritiesOf({ ca, caKey }: CertificateFiles): readonly KeyedCertificate[] {
  const keys = blocks(caKey, 'PRIVATE KEY').flatMap((block) => attempt(() => createPrivateKey(block)));
  return certificatesOf(ca)
    .flatMap((certificate) => {
      const key = keys.find((each) => certificate.checkPrivateKey(each));
      return key && certificate.ca ? [{ certificate, key }] : [];
    })
    .toSorted((a, b) => a.certificate.validToDate.getTime() - b.certificate.validToDate.getTime());
}

function servingOf({ cert, key }: CertificateFiles): KeyedCertificate | undefined {
  const [certificate] = certificatesOf(cert);
  const [privateKey] = attempt(() => createPrivateKey(key));
  return certificate && privateKey && certificate.checkPrivateKey(privateKey)
    ? { certificate, key: privateKey }
    : undefined;
}

function covers(certificate: X509Certificate, name: string): boolean {
  const found = isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name, { wildcards: false });
  return found !== undefined;
}

function signs({ certificate }: KeyedCertificate, signed: X509Certificate): boolean {
  return signed.checkIssued(certificate) && signed.verify(certificate.publicKey);
}

function lasts(certificate: X509Certificate, now: Date): number {
  return certificate.validToDate.getTime() - now.getTime();
}

function lifetime(now: Date, ms: number): Lifetime {
  return { from: new Date(now.getTime() - SKEW_MS), until: new Date(now.getTime() + ms) };
}

function pem(key: KeyObject): string {
  return String(key.export({ type: 'pkcs8', format: 'pem' }));
}

function blocks(text: string, label: string): readonly string[] {
  return text.match(new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----\n?`, 'g')) ?? [];
}

function count(text: string): number {
  return blocks(text, 'CERTIFICATE').length;
}

function attempt<T>(make: () => T): readonly T[] {
  try {
    return [make()];
  } catch {
    return [];
  }
}
