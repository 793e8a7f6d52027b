/**
 * Ed25519 signatures of artifacts (docs/reference/gateway.md#signatures, docs/decisions.md#manifest-sealed,
 * docs/decisions.md#trusted-keys).
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** A key that cannot be used; the message names the reason and the remedy. */
export class KeyError extends Error {}

/** Before the 32 bytes of a raw public key in its SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

export interface Signer {
  /** Hex of the 32 raw bytes. */
  readonly publicKey: string;
  /** Hex signature over the UTF-8 of the text. */
  sign(text: string): string;
}

/** `pem`: PKCS#8 Ed25519. Throws KeyError. */
export function createSigner(pem: string): Signer {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new KeyError('the signing key is not a private key in PEM (PKCS#8, Ed25519)', { cause });
  }
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new KeyError(`the signing key is ${key.asymmetricKeyType ?? 'unknown'}: an Ed25519 key is needed`);
  }
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return {
    publicKey: spki.subarray(SPKI_PREFIX.length).toString('hex'),
    sign: (text) => sign(null, Buffer.from(text), key).toString('hex'),
  };
}

/** Parses hex of the 32 raw bytes. Throws KeyError. */
export function parsePublicKey(hex: string): KeyObject {
  if (!/^[0-9a-fA-F]{64}$/.test(hex)) {
    throw new KeyError(
      `a trusted key (GW_TRUSTED_PUBKEY, --key) must be 64 hex digits (an Ed25519 public key), not ${hex.length} characters`,
    );
  }
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, Buffer.from(hex, 'hex')]), format: 'der', type: 'spki' });
}

/** Reports whether the hex signature over the text is by the key. */
export function verifySignature(key: KeyObject, text: string, signature: string): boolean {
  if (!/^[0-9a-f]{128}$/i.test(signature)) return false;
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'));
}
