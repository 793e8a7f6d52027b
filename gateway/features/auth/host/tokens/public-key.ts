/** Public keys, and the algorithms that they suit. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { ALGORITHMS, type Algorithm } from './jws.ts';

/** The keys cannot be used; the message says why, for operators. */
export class KeyError extends Error {}

const LEAST_RSA_BITS = 2048;
const MOST_RSA_BITS = 8192;
const CURVES: Readonly<Record<string, Algorithm>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };
const RSA: ReadonlySet<Algorithm> = new Set(ALGORITHMS.filter((alg) => alg.startsWith('RS')));

/** Reads a public key in PEM. Throws KeyError. */
export function publicKey(pem: string): KeyObject {
  if (!pem.includes('-----BEGIN PUBLIC KEY-----') && !pem.includes('-----BEGIN RSA PUBLIC KEY-----')) {
    throw new KeyError('it is not a public key in PEM: it begins with -----BEGIN PUBLIC KEY-----');
  }
  try {
    return createPublicKey(pem);
  } catch {
    throw new KeyError('it is not a public key in PEM that can be read');
  }
}

/** Returns the algorithms of the key's type; null if it is too short, too long, or of an unsupported type. */
export function algorithmsOf(key: KeyObject): ReadonlySet<Algorithm> | null {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') {
    return modulusLength >= LEAST_RSA_BITS && modulusLength <= MOST_RSA_BITS ? RSA : null;
  }
  const alg = key.asymmetricKeyType === 'ec' ? CURVES[namedCurve] : undefined;
  return alg === undefined ? null : new Set([alg]);
}
