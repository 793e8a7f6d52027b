/**
 * Hashed passwords in config: `$argon2id$…` and `$scrypt$…` (PHC strings), and `$2b$…` (bcrypt). Any other text is the
 * password itself, kept as a digest. All hashing runs off the event loop.
 */
import { argon2, hash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { verifyBcrypt } from './bcrypt.ts';

/** A password to compare with. */
export interface PasswordHash {
  /** Verification takes time and memory, off the event loop; else `matches` answers at once. */
  readonly slow: boolean;
  matches(password: string): boolean | Promise<boolean>;
}

/** The text looks like a hash but cannot be verified; the message says what to do, and reveals nothing of the hash. */
export class PasswordHashError extends Error {}

/** Most memory that one verification may take, in bytes. */
const MOST_MEMORY = 256 << 20;
/** Most passes over it (argon2id), or lanes (both). */
const MOST_WORK = 32;
/** 2^14 rounds take bcrypt about a second. */
const MOST_BCRYPT_COST = 14;

const ARGON2 =
  /^\$argon2id\$v=19\$m=(\d{1,9}),t=(\d{1,4}),p=(\d{1,4})\$([A-Za-z0-9+/]{8,128})\$([A-Za-z0-9+/]{16,172})$/;
const SCRYPT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{8,128})\$([A-Za-z0-9+/]{16,172})$/;
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** Modular crypt format, and LDAP's `{SSHA}`: plain passwords do not begin so. */
const HASH_LIKE = /^(\$[a-z0-9-]{1,16}\$|\{[A-Z0-9-]{3,16}\})/;

/** Reports whether a config value is a hash, and no secret in plain text (E1070). */
export function isPasswordHash(text: string): boolean {
  return ARGON2.test(text) || SCRYPT.test(text) || BCRYPT.test(text);
}

/** Throws PasswordHashError. */
export function passwordHash(text: string): PasswordHash {
  const bcrypt = BCRYPT.exec(text);
  if (bcrypt) return bcryptHash(text, Number(bcrypt[1]));
  const argon = ARGON2.exec(text);
  if (argon) return argon2Hash(argon);
  const scrypted = SCRYPT.exec(text);
  if (scrypted) return scryptHash(scrypted);
  if (HASH_LIKE.test(text)) {
    throw new PasswordHashError('looks like a hash of an unknown kind: make one with "gw hash"');
  }
  return plainPassword(text);
}

function argon2Hash([, m, t, p, salt = '', hash = '']: RegExpExecArray): PasswordHash {
  const [memory, passes, parallelism] = [Number(m), Number(t), Number(p)];
  checkCost(memory * 1024, Math.max(passes, parallelism), memory >= 8 * parallelism && passes > 0 && parallelism > 0);
  const nonce = Buffer.from(salt, 'base64');
  const wanted = Buffer.from(hash, 'base64');
  return {
    slow: true,
    matches: (message) =>
      new Promise((resolve, reject) => {
        const parameters = { message, nonce, parallelism, memory, passes, tagLength: wanted.length };
        argon2('argon2id', parameters, (error, found) => {
          if (error) reject(error);
          else resolve(timingSafeEqual(found, wanted));
        });
      }),
  };
}

function scryptHash([, ln, r, p, salt = '', hash = '']: RegExpExecArray): PasswordHash {
  const [cost, blockSize, parallelization] = [Number(ln), Number(r), Number(p)];
  const memory = 128 * 2 ** cost * blockSize;
  checkCost(memory, parallelization, cost > 0 && blockSize > 0 && parallelization > 0);
  const from = Buffer.from(salt, 'base64');
  const wanted = Buffer.from(hash, 'base64');
  const options = { N: 2 ** cost, r: blockSize, p: parallelization, maxmem: 2 * memory + (1 << 20) };
  return {
    slow: true,
    matches: (password) =>
      new Promise((resolve, reject) => {
        scrypt(password, from, wanted.length, options, (error, found) => {
          if (error) reject(error);
          else resolve(timingSafeEqual(found, wanted));
        });
      }),
  };
}

function bcryptHash(hash: string, cost: number): PasswordHash {
  checkCost(0, 1, cost >= 4 && cost <= MOST_BCRYPT_COST);
  return { slow: true, matches: (password) => verifyBcrypt(password, hash) };
}

/** A hash must not be a way to take the gateway's memory or time. */
function checkCost(memory: number, work: number, valid: boolean): void {
  if (valid && memory <= MOST_MEMORY && work <= MOST_WORK) return;
  throw new PasswordHashError(
    `is a hash whose cost is not valid, or more than the gateway grants (256 MiB, ${MOST_WORK} passes or lanes, bcrypt's cost 4 to ${MOST_BCRYPT_COST})`,
  );
}

const pepper = randomBytes(32).toString('base64');

function plainPassword(text: string): PasswordHash {
  const digest = (password: string) => hash('sha256', pepper + password, 'buffer');
  const wanted = digest(text);
  return { slow: false, matches: (password) => timingSafeEqual(digest(password), wanted) };
}
