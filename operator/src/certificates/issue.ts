/** Issues X.509 certificates (RFC 5280): an authority, and the listener's certificates that it signs. ECDSA P-256. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

/** A certificate and its private key. */
export interface KeyedCertificate {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

export interface Lifetime {
  readonly from: Date;
  readonly until: Date;
}

/** ecdsa-with-SHA256 (RFC 5758), without parameters. */
const SIGNATURE = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';

/** Issues an authority that signs itself. */
export function issueAuthority(commonName: string, lifetime: Lifetime): KeyedCertificate {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificate = issue(lifetime, keys.publicKey, commonName, { commonName, ...keys }, [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 }), true),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign), true),
  ]);
  return { certificate, key: keys.privateKey };
}

/** Issues a server's certificate for DNS names and IP addresses. */
export function issueServing(
  authority: KeyedCertificate,
  names: readonly string[],
  lifetime: Lifetime,
): KeyedCertificate {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const alternatives = names.map((name) => new GeneralName(isIP(name) ? { iPAddress: name } : { dNSName: name }));
  const issuer = {
    commonName: commonName(authority.certificate),
    publicKey: authority.certificate.publicKey,
    privateKey: authority.key,
  };
  const certificate = issue(lifetime, keys.publicKey, 'gw-operator', issuer, [
    extension(id_ce_basicConstraints, new BasicConstraints(), true),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
    extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
    extension(id_ce_subjectAltName, new SubjectAlternativeName(alternatives)),
  ]);
  return { certificate, key: keys.privateKey };
}

interface Issuer {
  readonly commonName: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

function issue(
  { from, until }: Lifetime,
  publicKey: KeyObject,
  subject: string,
  issuer: Issuer,
  extensions: readonly Extension[],
): X509Certificate {
  const subjectPublicKeyInfo = publicKeyInfo(publicKey);
  const signature = new AlgorithmIdentifier({ algorithm: SIGNATURE });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(),
    signature,
    issuer: distinguishedName(issuer.commonName),
    validity: new Validity({ notBefore: from, notAfter: until }),
    subject: distinguishedName(subject),
    subjectPublicKeyInfo,
    extensions: new Extensions([
      ...extensions,
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId(subjectPublicKeyInfo))),
      extension(
        id_ce_authorityKeyIdentifier,
        new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(keyId(publicKeyInfo(issuer.publicKey))) }),
      ),
    ]),
  });
  const signatureValue = bytes(sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), issuer.privateKey));
  const der = AsnConvert.serialize(new Certificate({ tbsCertificate, signatureAlgorithm: signature, signatureValue }));
  return new X509Certificate(Buffer.from(der));
}

function extension(extnID: string, value: object, critical = false): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function distinguishedName(text: string): Name {
  const value = new AttributeValue({ utf8String: text });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

function commonName(certificate: X509Certificate): string {
  return /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? '';
}

function publicKeyInfo(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(key.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo);
}

/** Returns the key identifier of RFC 5280 section 4.2.1.2, method 1. */
function keyId({ subjectPublicKey }: SubjectPublicKeyInfo): ArrayBuffer {
  return bytes(createHash('sha1').update(new Uint8Array(subjectPublicKey)).digest());
}

/** Returns a positive number of 16 bytes, without a leading zero (RFC 5280 section 4.1.2.2). */
function serialNumber(): ArrayBuffer {
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x3f) | 0x40;
  return bytes(serial);
}

function bytes(buffer: Buffer): ArrayBuffer {
  return new Uint8Array(buffer).buffer;
}
