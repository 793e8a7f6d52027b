/** Makes the hashes that config may hold instead of passwords and keys. */
import { argon2Sync, hash, randomBytes, scryptSync } from 'node:crypto';

export const HASH_ALGORITHMS = ['argon2id', 'scrypt', 'sha256'] as const;
export type HashAlgorithm = (typeof HASH_ALGORITHMS)[number];

const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** First recommendation of OWASP's password storage page. */
const ARGON2 = { memory: 19_456, passes: 2, parallelism: 1 };
const SCRYPT = { ln: 17, r: 8, p: 1 };

/** `sha256` is for keys that were made at random: of passwords it would be quick to guess. */
export function makeHash(secret: string, algorithm: HashAlgorithm): string {
  if (algorithm === 'sha256') return `sha256:${hash('sha256', secret, 'hex')}`;
  const salt = randomBytes(SALT_BYTES);
  if (algorithm === 'argon2id') {
    const { memory, passes, parallelism } = ARGON2;
    const found = argon2Sync('argon2id', { message: secret, nonce: salt, tagLength: HASH_BYTES, ...ARGON2 });
    return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(found)}`;
  }
  const { ln, r, p } = SCRYPT;
  const found = scryptSync(secret, salt, HASH_BYTES, { N: 2 ** ln, r, p, maxmem: 512 << 20 });
  return `$scrypt$ln=${ln},r=${r},p=${p}$${base64(salt)}$${base64(found)}`;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
