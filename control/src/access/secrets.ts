/** Keys of data planes and API tokens: random, shown once, kept as a hash. */
import { createHash, randomBytes } from 'node:crypto';

/** Prefix of a secret, which tells people and code scanners its kind. */
const SECRET_KINDS = { dataPlaneKey: 'gwk', apiToken: 'gwt' } as const;
export type SecretKind = keyof typeof SECRET_KINDS;

/** 256 bits: too many to guess, so that a plain hash is as good as a slow one. */
const RANDOM_BYTES = 32;
const RANDOM_CHARACTERS = 43;
/** Number of random characters that are shown to tell secrets apart. */
const SHOWN = 6;

export interface NewSecret {
  /** Shown to its owner, this once. */
  readonly secret: string;
  /** The stored hash, by which a secret is looked up: sha256, hex. */
  readonly hash: string;
  readonly prefix: string;
}

export function newSecret(kind: SecretKind): NewSecret {
  return asSecret(kind, `${SECRET_KINDS[kind]}_${randomBytes(RANDOM_BYTES).toString('base64url')}`);
}

/** Returns the stored form of a secret. */
export function asSecret(kind: SecretKind, secret: string): NewSecret {
  const prefix = secret.slice(0, SECRET_KINDS[kind].length + 1 + SHOWN);
  return { secret, hash: sha256(secret), prefix };
}

/**
 * Returns the hash by which a secret is found; null if the text does not have the form of this kind. The lookup need
 * not take constant time: timing reveals hashes, not secrets.
 */
export function secretHash(kind: SecretKind, text: string): string | null {
  const { length } = SECRET_KINDS[kind];
  const isOne = text.length === length + 1 + RANDOM_CHARACTERS && text.startsWith(`${SECRET_KINDS[kind]}_`);
  return isOne ? sha256(text) : null;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
