/** The keys of an issuer, each good for the algorithms of its own type only (RFC 8725, sections 3.1 and 3.2). */
import { createPublicKey } from 'node:crypto';
import { type CryptoKey, importJWK, importSPKI, type JWK } from 'jose';
import { get, isObject, type Obj } from '../../../kit.ts';
import type { Algorithm } from './jws.ts';
import { algorithmsOf, KeyError, publicKey } from './public-key.ts';

interface Key {
  readonly kid: string | undefined;
  readonly algorithms: ReadonlySet<Algorithm>;
  import(alg: Algorithm): Promise<CryptoKey>;
}

/** Most keys of a set, and most that are tried for a token without a key name. */
const MOST_KEYS = 100;
const MOST_TRIED = 5;

export class KeyTable {
  readonly #keys: readonly Key[];
  readonly #imported = new Map<Key, Map<Algorithm, Promise<CryptoKey | null>>>();

  private constructor(keys: readonly Key[]) {
    this.#keys = keys;
  }

  /**
   * Reads a JSON Web Key Set (RFC 7517). Keys for other uses, and of unknown types, are ignored, as section 5 says.
   * Throws KeyError if it is not a key set, or holds no usable key.
   */
  static ofJwks(set: unknown): KeyTable {
    const list = get(set, 'keys');
    if (!Array.isArray(list)) throw new KeyError('it is not a key set: an object with a list "keys"');
    if (list.length > MOST_KEYS) throw new KeyError(`the key set holds ${list.length} keys, of at most ${MOST_KEYS}`);
    const keys = list.flatMap((each: unknown) => (isObject(each) ? (keyOfJwk(each) ?? []) : []));
    if (keys.length === 0)
      throw new KeyError('the key set holds no RSA key (2048 to 8192 bits) or EC key for signatures');
    return new KeyTable(keys);
  }

  /** Reads a public key in PEM (`BEGIN PUBLIC KEY`). Throws KeyError. */
  static ofPem(pem: string): KeyTable {
    const key = publicKey(pem);
    const algorithms = algorithmsOf(key);
    if (algorithms === null)
      throw new KeyError('it is neither an RSA key of 2048 to 8192 bits nor an EC key on P-256, P-384 or P-521');
    const spki = key.export({ type: 'spki', format: 'pem' }).toString();
    return new KeyTable([{ kid: undefined, algorithms, import: (alg) => importSPKI(spki, alg) }]);
  }

  /** Reports whether a key is called so. */
  names(kid: string): boolean {
    return this.#keys.some((key) => key.kid === kid);
  }

  /** Reports whether `candidates` takes the keys of this name, and not all of a type. */
  chooses(kid: string | undefined): boolean {
    return kid !== undefined && this.named;
  }

  /** Reports whether tokens say which key they are signed with. */
  get named(): boolean {
    return this.#keys.some(({ kid }) => kid !== undefined);
  }

  /**
   * Returns the keys that a token may be signed with: those of its name, or, if either side has no names, those of its
   * type. A key is null if it turns out to be unusable.
   */
  candidates(alg: Algorithm, kid: string | undefined): readonly Promise<CryptoKey | null>[] {
    const fitting = this.#keys.filter((key) => key.algorithms.has(alg));
    const named = this.chooses(kid) ? fitting.filter((key) => key.kid === kid) : fitting;
    return named.slice(0, MOST_TRIED).map((key) => this.#import(key, alg));
  }

  #import(key: Key, alg: Algorithm): Promise<CryptoKey | null> {
    const imported = this.#imported.get(key) ?? new Map<Algorithm, Promise<CryptoKey | null>>();
    this.#imported.set(key, imported);
    const known = imported.get(alg) ?? key.import(alg).catch(() => null);
    imported.set(alg, known);
    return known;
  }
}

/** Returns null if the key is unusable here. */
function keyOfJwk(jwk: Obj): Key | null {
  const { use, alg, kid, key_ops } = jwk;
  if (use !== undefined && use !== 'sig') return null;
  if (Array.isArray(key_ops) && !key_ops.includes('verify')) return null;
  if (kid !== undefined && typeof kid !== 'string') return null;
  const material = materialOf(jwk);
  if (material === null) return null;
  const algorithms = new Set([...typeOf(material)].filter((each) => alg === undefined || each === alg));
  if (algorithms.size === 0) return null;
  return { kid, algorithms, import: (name) => importKey(material, name) };
}

/** Returns the public part alone: private keys in a set are its owner's fault, and are ignored here. */
function materialOf({ kty, n, e, crv, x, y }: Obj): JWK | null {
  if (kty === 'RSA' && typeof n === 'string' && typeof e === 'string') return { kty, n, e };
  if (kty === 'EC' && typeof crv === 'string' && typeof x === 'string' && typeof y === 'string')
    return { kty, crv, x, y };
  return null;
}

/** Returns the algorithms of its type; empty if it cannot be read, or must not be used. */
function typeOf(material: JWK): ReadonlySet<Algorithm> {
  try {
    return algorithmsOf(createPublicKey({ key: { ...material }, format: 'jwk' })) ?? new Set();
  } catch {
    return new Set();
  }
}

async function importKey(material: JWK, alg: Algorithm): Promise<CryptoKey> {
  const key = await importJWK(material, alg);
  if (key instanceof Uint8Array) throw new KeyError('it is a shared secret');
  return key;
}
