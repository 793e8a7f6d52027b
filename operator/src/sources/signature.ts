/** Verifies who signed a plugin: keys and signatures as cosign makes them, and Ed25519 as gw does. */
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { parsePublicKey } from '@gw/gateway/artifact';
import { isRecord } from '../kube/kube-object.ts';
import { type ImageSignature, SourceError } from './source.ts';

export interface SigningKey {
  readonly key: KeyObject;
  /** sha256 of its DER form (SubjectPublicKeyInfo), in hex. */
  readonly fingerprint: string;
}

const PEM = /-----BEGIN [A-Z ]+-----[^-]*-----END [A-Z ]+-----/g;
const MAX_KEYS = 50;
const SIGNATURE_TYPE = 'cosign container image signature';

/**
 * Returns the public keys in a text: PEM blocks (ECDSA on P-256, or Ed25519), or Ed25519 keys in hex, one per line.
 * Throws SourceError, which repeats nothing of the text; `from` names its place in the message.
 */
export function parseKeys(text: string, from: string): readonly SigningKey[] {
  const invalid = (why: string) => new SourceError('InvalidSpec', `${from} ${why}`);
  if (text.includes('PRIVATE KEY')) throw invalid('holds a private key: give the public one');
  const pems = text.match(PEM) ?? [];
  const hex = pems.length > 0 ? [] : text.split(/\s+/).filter((line) => line !== '');
  if (pems.length + hex.length === 0) throw invalid('holds no public key');
  if (pems.length + hex.length > MAX_KEYS) throw invalid(`holds more than ${MAX_KEYS} keys`);
  return [...pems, ...hex].map((each) => {
    let key: KeyObject;
    try {
      key = pems.length > 0 ? createPublicKey(each) : parsePublicKey(each);
    } catch {
      throw invalid('holds what is neither a public key in PEM nor 64 hex digits');
    }
    const curve = key.asymmetricKeyDetails?.namedCurve;
    if (key.asymmetricKeyType !== 'ed25519' && curve !== 'prime256v1') {
      throw invalid(`holds a key of type ${key.asymmetricKeyType ?? 'unknown'}: ECDSA on P-256 or Ed25519 is needed`);
    }
    return { key, fingerprint: hash('sha256', key.export({ type: 'spki', format: 'der' }), 'hex') };
  });
}

/** Returns base64 or hex as written in the file; the bytes of a binary one (`openssl dgst -sign`) in base64. */
export function signatureText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('latin1').trim();
  return /^[A-Za-z0-9+/=\r\n]+$/.test(text) ? text : Buffer.from(bytes).toString('base64');
}

/** Returns the key that signed the bytes. `signature`: base64 (ECDSA in DER, or the 64 bytes of Ed25519), or hex. */
export function signerOf(keys: readonly SigningKey[], bytes: Uint8Array, signature: string): SigningKey | undefined {
  const raw = decode(signature);
  return keys.find(({ key }) => {
    try {
      return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, key, raw);
    } catch {
      // Not a signature at all.
      return false;
    }
  });
}

/** Returns the key that signed the image of that digest: a signed payload must name this digest. */
export function imageSignerOf(
  keys: readonly SigningKey[],
  digest: string,
  signatures: readonly ImageSignature[],
): SigningKey | undefined {
  for (const { payload, signature } of signatures) {
    const signer = signerOf(keys, payload, signature);
    if (signer && signedDigest(payload) === digest) return signer;
  }
  return undefined;
}

/** `critical.image.docker-manifest-digest` of a simple signing payload. */
function signedDigest(payload: Uint8Array): string | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(payload).toString('utf8'));
    const critical = isRecord(parsed) ? parsed['critical'] : undefined;
    if (!isRecord(critical) || critical['type'] !== SIGNATURE_TYPE || !isRecord(critical['image'])) return undefined;
    const digest = critical['image']['docker-manifest-digest'];
    return typeof digest === 'string' ? digest : undefined;
  } catch {
    return undefined;
  }
}

function decode(signature: string): Buffer {
  const text = signature.replaceAll(/\s+/g, '');
  return /^([0-9a-fA-F]{2})+$/.test(text) && text.length === 128
    ? Buffer.from(text, 'hex')
    : Buffer.from(text, 'base64');
}
