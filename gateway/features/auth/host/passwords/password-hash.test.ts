import { describe, expect, it } from 'vitest';
import { makeHash } from '../../../../src/cli/hash.ts';
import { isPasswordHash, PasswordHashError, passwordHash } from './password-hash.ts';

/** Made by others: the argon2 reference implementation, passlib, and the test vectors of crypt_blowfish. */
const VECTORS = [
  ['argon2id', 'password', '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'],
  ['scrypt', 'password', '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E'],
  ['bcrypt $2a$', 'U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['bcrypt $2b$', 'U*U*', '$2b$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK'],
  ['bcrypt $2y$', 'U*U*U', '$2y$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a'],
] as const;

describe('hashes of passwords', () => {
  it.each(VECTORS)('%s: the password is told from others', async (_kind, password, hash) => {
    expect(isPasswordHash(hash)).toBe(true);
    const known = passwordHash(hash);
    expect(await known.matches(password)).toBe(true);
    for (const other of ['', `${password}x`, password.toUpperCase() + password, hash]) {
      expect(await known.matches(other)).toBe(false);
    }
  });

  it.each(['argon2id', 'scrypt'] as const)('%s as gw hash makes it, each time with another salt', async (algorithm) => {
    const made = makeHash('Zoë: s3cret', algorithm);
    expect(made).not.toBe(makeHash('Zoë: s3cret', algorithm));
    const known = passwordHash(made);
    expect(known.slow).toBe(true);
    expect(await known.matches('Zoë: s3cret')).toBe(true);
    expect(await known.matches('Zoe: s3cret')).toBe(false);
  });

  it('what is no hash is the password itself', () => {
    const known = passwordHash('open: sesame');
    expect(known.slow).toBe(false);
    expect(known.matches('open: sesame')).toBe(true);
    expect(known.matches('open: sesam')).toBe(false);
    expect(isPasswordHash('open: sesame')).toBe(false);
  });

  it.each([
    ['of another kind', '$6$rounds=5000$saltsalt$abcdef', /of an unknown kind/],
    ['of another kind, Apache', '$apr1$saltsalt$abcdefabcdefabcdefabcd', /gw hash/],
    ['of another kind, LDAP', '{SSHA}abcdefabcdef', /of an unknown kind/],
    [
      'argon2i',
      '$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
      /unknown kind/,
    ],
    ['cut short', '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ', /unknown kind/],
    [
      'that would take all memory',
      '$argon2id$v=19$m=99999999,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
      /more than the gateway grants/,
    ],
    [
      'that would take all memory, scrypt',
      '$scrypt$ln=30,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
      /more than the gateway grants/,
    ],
    ['that would take hours', `$2b$31$${'C'.repeat(53)}`, /bcrypt's cost 4 to 14/],
    ['without lanes', '$argon2id$v=19$m=65536,t=2,p=0$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc', /cost/],
  ])('refuses a hash %s, and repeats nothing of it', (_what, text, says) => {
    let message = '';
    try {
      passwordHash(text);
    } catch (error) {
      expect(error).toBeInstanceOf(PasswordHashError);
      message = error instanceof Error ? error.message : '';
    }
    expect(message).toMatch(says);
    expect(message).not.toContain(text.slice(-12));
  });
});
